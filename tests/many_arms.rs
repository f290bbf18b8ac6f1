//! A `match` with hundreds of arms: each arm has its value and its gradient.

use ad::{Differentiable, check_grad, differentiate};

/// Functions with an arm for each of these numbers.
macro_rules! with_arms {
    ($($k:literal)*) => {
        /// The arms are the parts of the integer's range.
        #[differentiate]
        fn dense(k: usize, x: f64, y: f64) -> f64 {
            match k {
                $($k => (x * f64::from($k) * 0.01).sin() * y,)*
                _ => x * 0.1,
            }
        }

        /// There are numbers between those of the arms, arms with several numbers, and guards.
        #[differentiate]
        fn sparse(k: i64, x: f64, y: f64) -> f64 {
            match k {
                i64::MIN..=-1000 => x * x,
                -999 | -99 | -9 => y * y,
                -998 if x > 1.0 => 3.0 * x,
                -998 => 4.0 * x,
                $($k => x + f64::from($k) * y,)*
                1000.. if y > 1.0 => 5.0 * y,
                1000 | 1002 | 1004 => 6.0 * y,
                _ => x * 0.1,
            }
        }

        /// Each step of the loop takes one arm, which changes one element.
        #[differentiate]
        fn machine(program: &[usize], x: &[f64]) -> f64 {
            let mut a = x.to_vec();
            for &op in program {
                match op {
                    $($k => a[$k] = a[$k + 1].sin() * 1.5 + f64::from($k),)*
                    _ => a[0] *= 0.1,
                }
            }
            a.iter().zip(x).map(|(a, x)| a * x).sum()
        }

        /// No single integer decides.
        #[differentiate]
        fn by_two(pair: (usize, i32), x: f64, y: f64) -> f64 {
            match pair {
                $(($k, 3) => x * y * f64::from($k),)*
                (k, _) if k > 1000 => y,
                (7, n @ -5..=5) => x * x * f64::from(n),
                _ => x * 0.1,
            }
        }
    };
}

with_arms!(
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19
    20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39
    40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59
    60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79
    80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95 96 97 98 99
    100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117 118 119
    120 121 122 123 124 125 126 127 128 129 130 131 132 133 134 135 136 137 138 139
    140 141 142 143 144 145 146 147 148 149 150 151 152 153 154 155 156 157 158 159
    160 161 162 163 164 165 166 167 168 169 170 171 172 173 174 175 176 177 178 179
    180 181 182 183 184 185 186 187 188 189 190 191 192 193 194 195 196 197 198 199
    200 201 202 203 204 205 206 207 208 209 210 211 212 213 214 215 216 217 218 219
    220 221 222 223 224 225 226 227 228 229 230 231 232 233 234 235 236 237 238 239
    240 241 242 243 244 245 246 247 248 249 250 251 252 253 254 255 256 257 258 259
    260 261 262 263 264 265 266 267 268 269 270 271 272 273 274 275 276 277 278 279
    280 281 282 283 284 285 286 287 288 289 290 291 292 293 294 295 296 297 298 299
);

macro_rules! with_variants {
    ($($v:ident $k:literal)*) => {
        #[derive(Clone, Copy, Debug, Differentiable)]
        enum Op {
            $($v,)*
            Scale(f64),
        }

        /// The variants without a number.
        const PLAIN: &[Op] = &[$(Op::$v),*];

        #[differentiate(grad, wrt(x, y))]
        fn of_enum(op: Op, x: f64, y: f64) -> f64 {
            match op {
                $(Op::$v => (x * f64::from($k) * 0.01).sin() * y,)*
                Op::Scale(by) => by * x,
            }
        }
    };
}

with_variants!(
    V0 0 V1 1 V2 2 V3 3 V4 4 V5 5 V6 6 V7 7
    V8 8 V9 9 V10 10 V11 11 V12 12 V13 13 V14 14 V15 15
    V16 16 V17 17 V18 18 V19 19 V20 20 V21 21 V22 22 V23 23
    V24 24 V25 25 V26 26 V27 27 V28 28 V29 29 V30 30 V31 31
    V32 32 V33 33 V34 34 V35 35 V36 36 V37 37 V38 38 V39 39
    V40 40 V41 41 V42 42 V43 43 V44 44 V45 45 V46 46 V47 47
    V48 48 V49 49 V50 50 V51 51 V52 52 V53 53 V54 54 V55 55
    V56 56 V57 57 V58 58 V59 59 V60 60 V61 61 V62 62 V63 63
    V64 64 V65 65 V66 66 V67 67 V68 68 V69 69 V70 70 V71 71
    V72 72 V73 73 V74 74 V75 75 V76 76 V77 77 V78 78 V79 79
    V80 80 V81 81 V82 82 V83 83 V84 84 V85 85 V86 86 V87 87
    V88 88 V89 89 V90 90 V91 91 V92 92 V93 93 V94 94 V95 95
    V96 96 V97 97 V98 98 V99 99 V100 100 V101 101 V102 102 V103 103
    V104 104 V105 105 V106 106 V107 107 V108 108 V109 109 V110 110 V111 111
    V112 112 V113 113 V114 114 V115 115 V116 116 V117 117 V118 118 V119 119
    V120 120 V121 121 V122 122 V123 123 V124 124 V125 125 V126 126 V127 127
    V128 128 V129 129 V130 130 V131 131 V132 132 V133 133 V134 134 V135 135
    V136 136 V137 137 V138 138 V139 139 V140 140 V141 141 V142 142 V143 143
    V144 144 V145 145 V146 146 V147 147 V148 148 V149 149 V150 150 V151 151
    V152 152 V153 153 V154 154 V155 155 V156 156 V157 157 V158 158 V159 159
    V160 160 V161 161 V162 162 V163 163 V164 164 V165 165 V166 166 V167 167
    V168 168 V169 169 V170 170 V171 171 V172 172 V173 173 V174 174 V175 175
    V176 176 V177 177 V178 178 V179 179 V180 180 V181 181 V182 182 V183 183
    V184 184 V185 185 V186 186 V187 187 V188 188 V189 189 V190 190 V191 191
    V192 192 V193 193 V194 194 V195 195 V196 196 V197 197 V198 198 V199 199
    V200 200 V201 201 V202 202 V203 203 V204 204 V205 205 V206 206 V207 207
    V208 208 V209 209 V210 210 V211 211 V212 212 V213 213 V214 214 V215 215
    V216 216 V217 217 V218 218 V219 219 V220 220 V221 221 V222 222 V223 223
    V224 224 V225 225 V226 226 V227 227 V228 228 V229 229 V230 230 V231 231
    V232 232 V233 233 V234 234 V235 235 V236 236 V237 237 V238 238 V239 239
    V240 240 V241 241 V242 242 V243 243 V244 244 V245 245 V246 246 V247 247
    V248 248 V249 249 V250 250 V251 251 V252 252 V253 253 V254 254 V255 255
    V256 256 V257 257 V258 258 V259 259 V260 260 V261 261 V262 262 V263 263
    V264 264 V265 265 V266 266 V267 267 V268 268 V269 269 V270 270 V271 271
    V272 272 V273 273 V274 274 V275 275 V276 276 V277 277 V278 278 V279 279
    V280 280 V281 281 V282 282 V283 283 V284 284 V285 285 V286 286 V287 287
    V288 288 V289 289 V290 290 V291 291 V292 292 V293 293 V294 294 V295 295
    V296 296 V297 297 V298 298 V299 299
);

fn close(a: (f64, f64), b: (f64, f64)) {
    assert!((a.0 - b.0).abs() < 1e-12 && (a.1 - b.1).abs() < 1e-12, "{a:?}, {b:?}");
}

/// The gradient of the arm with this number.
fn sine(k: usize, x: f64, y: f64) -> (f64, f64) {
    let c = k as f64 * 0.01;
    ((x * c).cos() * c * y, (x * c).sin())
}

#[test]
fn each_arm_has_its_gradient() {
    let (x, y) = (0.7, 1.3);
    for k in 0..300 {
        assert_eq!(dense(k, x, y), dense_value_and_grad(k, x, y).0);
        close(dense_grad(k, x, y), sine(k, x, y));
    }
    close(dense_grad(300, x, y), (0.1, 0.0));
    close(dense_grad(usize::MAX, x, y), (0.1, 0.0));
}

#[test]
fn each_variant_has_its_gradient() {
    let (x, y) = (0.7, 1.3);
    for (k, &op) in PLAIN.iter().enumerate() {
        close(of_enum_grad(op, x, y), sine(k, x, y));
    }
    close(of_enum_grad(Op::Scale(2.5), x, y), (2.5, 0.0));
}

#[test]
fn arms_with_several_numbers_and_guards() {
    for (x, y) in [(0.7, 0.3), (1.7, 1.3)] {
        for k in 0..300 {
            close(sparse_grad(k, x, y), (1.0, k as f64));
        }
        for k in [i64::MIN, -1001, -1000] {
            close(sparse_grad(k, x, y), (2.0 * x, 0.0));
        }
        for k in [-999, -99, -9] {
            close(sparse_grad(k, x, y), (0.0, 2.0 * y));
        }
        close(sparse_grad(-998, x, y), (if x > 1.0 { 3.0 } else { 4.0 }, 0.0));
        for k in [-997, -100, -98, -10, -8, -1, 300, 999] {
            close(sparse_grad(k, x, y), (0.1, 0.0));
        }
        for k in [1000, 1002, 1004] {
            close(sparse_grad(k, x, y), (0.0, if y > 1.0 { 5.0 } else { 6.0 }));
        }
        for k in [1001, 1003, 1005, i64::MAX] {
            close(sparse_grad(k, x, y), if y > 1.0 { (0.0, 5.0) } else { (0.1, 0.0) });
        }
    }
}

#[test]
fn arms_that_change_elements() {
    let x: Vec<f64> = (0..301).map(|k| (k as f64 * 0.37).sin()).collect();
    let all: Vec<usize> = (0..301).chain((0..301).rev()).collect();
    check_grad!(machine(&all, &x));
    check_grad!(machine(&[2, 2, 1, 1, 0, 300, 299, 5000], &x));
}

#[test]
fn arms_by_two_integers() {
    let (x, y) = (0.7, 1.3);
    for k in 0..300 {
        close(by_two_grad((k, 3), x, y), (y * k as f64, x * k as f64));
    }
    close(by_two_grad((1001, 3), x, y), (0.0, 1.0));
    close(by_two_grad((7, -4), x, y), (-8.0 * x, 0.0));
    close(by_two_grad((7, 6), x, y), (0.1, 0.0));
    close(by_two_grad((8, 4), x, y), (0.1, 0.0));
}
