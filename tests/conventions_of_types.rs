//! The conventions of the guide for both real types, and for numbers, arrays, slices and type
//! parameters.

macro_rules! conventions {
    ($module:ident, $F:ident) => {
        mod $module {
            use ad::prelude::*;

            const INF: $F = $F::INFINITY;
            const NAN: $F = $F::NAN;

            /// The derivative of a function of one number at a point, computed in three ways that
            /// have to agree.
            macro_rules! at {
                ($name:ident, |$x:ident| $body:expr, $by_hand:expr) => {
                    mod $name {
                        use ad::prelude::*;

                        #[differentiate(grad, jvp)]
                        fn number($x: $F) -> $F {
                            $body
                        }

                        #[differentiate]
                        fn array(xs: &Array1<$F>) -> $F {
                            xs.mapv(|$x| $body).sum()
                        }

                        #[differentiate]
                        fn slice(xs: &[$F]) -> $F {
                            sum(&build1(xs.len(), |i| {
                                let $x = xs[i];
                                $body
                            }))
                        }

                        #[test]
                        fn as_the_table_says() {
                            for (x, expected) in $by_hand {
                                let same = |found: $F| found == expected || (found.is_nan() && <$F>::is_nan(expected));
                                assert!(same(number_grad(x)), "{x}: {} is not {expected}", number_grad(x));
                                let (_, forward) = number_jvp(x, 1.0);
                                assert!(same(forward), "{x}, forward: {forward} is not {expected}");
                                let gradient = array_grad(&array![x, 0.7, x]);
                                assert!(same(gradient[0]) && same(gradient[2]), "{x}: {gradient} is not {expected}");
                                let gradient = slice_grad(&[x, 0.7, x]);
                                assert!(same(gradient[0]) && same(gradient[2]), "{x}: {gradient:?} is not {expected}");
                                // There is no NaN where the incoming cotangent is 0.
                                assert_eq!(number_jvp(x, 0.0).1, 0.0, "{x}: tangent 0");
                            }
                        }
                    }
                };
            }

            at!(max_first, |x| x.max(1.0), [(1.0, 1.0), (0.5, 0.0), (2.0, 1.0), (<$F>::NAN, 0.0)]);
            at!(max_second, |x| (1.0 as $F).max(x), [(1.0, 0.0), (0.5, 0.0), (2.0, 1.0), (<$F>::NAN, 0.0)]);
            at!(min_first, |x| x.min(1.0), [(1.0, 1.0), (0.5, 1.0), (2.0, 0.0), (<$F>::NAN, 0.0)]);
            at!(min_second, |x| (1.0 as $F).min(x), [(1.0, 0.0), (0.5, 1.0), (2.0, 0.0), (<$F>::NAN, 0.0)]);
            at!(absolute, |x| x.abs(), [(0.0, 0.0), (-0.0, 0.0), (-2.0, -1.0), (3.0, 1.0)]);
            at!(hypotenuse, |x| x.hypot(0.0), [(0.0, 0.0), (-2.0, -1.0)]);
            at!(angle, |x| x.atan2(0.0), [(0.0, 0.0), (-0.0, 0.0)]);
            at!(angle_second, |x| (0.0 as $F).atan2(x), [(0.0, 0.0)]);
            at!(rectified, |x| relu(x), [(0.0, 0.0), (-0.0, 0.0), (-1.0, 0.0), (2.0, 1.0)]);
            at!(sign, |x| x.signum(), [(0.0, 0.0), (-0.0, 0.0), (-1.5, 0.0), (2.5, 0.0)]);
            at!(down, |x| x.floor(), [(0.0, 0.0), (-1.5, 0.0), (2.0, 0.0)]);
            at!(up, |x| x.ceil(), [(0.0, 0.0), (-1.5, 0.0), (2.0, 0.0)]);
            at!(nearest, |x| x.round(), [(0.5, 0.0), (-1.5, 0.0), (2.0, 0.0)]);
            at!(towards_zero, |x| x.trunc(), [(0.5, 0.0), (-1.5, 0.0), (2.0, 0.0)]);
            at!(fraction, |x| x.fract(), [(0.0, 1.0), (-1.5, 1.0), (2.0, 1.0)]);
            at!(cast, |x| x * 0.0 + (x as i32) as $F, [(0.5, 0.0), (-1.5, 0.0), (2.0, 0.0)]);
            at!(comparison, |x| if x > 0.0 { 1.0 } else { x * 0.0 }, [(0.0, 0.0), (1.0, 0.0), (-1.0, 0.0)]);
            at!(clamped, |x| x.clamp(-1.0, 2.0), [(-1.0, 1.0), (2.0, 1.0), (-1.5, 0.0), (2.5, 0.0), (0.0, 1.0)]);
            at!(root, |x| x.sqrt(), [(0.0, <$F>::INFINITY), (4.0, 0.25)]);
            at!(cube_root, |x| x.cbrt(), [(0.0, <$F>::INFINITY)]);
            at!(power_zero, |x| x.powi(0), [(0.0, 0.0), (2.0, 0.0), (<$F>::NAN, 0.0), (<$F>::INFINITY, 0.0)]);
            at!(power_one, |x| x.powi(1), [(0.0, 1.0), (2.0, 1.0)]);
            at!(power_of_zero, |x| (0.0 as $F).powf(x), [(0.5, 0.0), (2.0, 0.0)]);
            at!(
                masked,
                |x| if x > 0.0 { x.ln() } else { 0.0 },
                [(0.0, 0.0), (-1.0, 0.0), (<$F>::NAN, 0.0), (2.0, 0.5)]
            );
            at!(chosen, |x| select(x > 0.0, x.sqrt(), 0.0), [(0.0, 0.0), (-1.0, 0.0), (<$F>::NAN, 0.0), (4.0, 0.25)]);

            #[differentiate]
            fn largest(x: &[$F]) -> $F {
                maximum(x)
            }

            #[differentiate]
            fn smallest(x: &Array2<$F>) -> $F {
                minimum(x)
            }

            #[differentiate]
            fn length(x: &Array1<$F>) -> $F {
                norm(x)
            }

            #[differentiate]
            fn soft(x: &Array1<$F>) -> $F {
                logsumexp(x)
            }

            #[differentiate]
            fn shares(x: &Array1<$F>) -> Array1<$F> {
                softmax(x)
            }

            #[differentiate]
            fn total(x: &Array1<$F>) -> $F {
                x.sum()
            }

            #[differentiate]
            fn average(x: &Array1<$F>) -> $F {
                x.mean().unwrap()
            }

            #[test]
            fn ties_go_to_the_first_index() {
                assert_eq!(largest_grad(&[1.0, 3.0, 3.0, 0.0]), [0.0, 1.0, 0.0, 0.0]);
                assert_eq!(smallest_grad(&array![[2.0, 1.0], [1.0, 1.0]]), array![[0.0, 1.0], [0.0, 0.0]]);
            }

            #[test]
            fn the_norm_of_a_zero_vector() {
                assert_eq!(length_grad(&array![0.0, 0.0]), array![0.0, 0.0]);
                assert_eq!(length_grad(&array![0.0, -2.0]), array![0.0, -1.0]);
                assert_eq!(length_value_and_grad(&Array1::zeros(0)), (0.0, Array1::zeros(0)));
            }

            #[test]
            fn minus_infinities_only() {
                assert_eq!(soft_value_and_grad(&array![-INF, -INF]), (-INF, array![0.0, 0.0]));
                let (value, gradient) = shares_vjp(&array![-INF, -INF], &array![1.0, 2.0]);
                assert_eq!(value, shares(&array![-INF, -INF]));
                assert_eq!(gradient, array![0.0, 0.0]);
                assert!(soft_value_and_grad(&array![NAN, 1.0]).0.is_nan());
            }

            #[test]
            fn empty_arrays() {
                let none = Array1::zeros(0);
                assert_eq!(total_value_and_grad(&none), (0.0, none.clone()));
                assert!(std::panic::catch_unwind(|| average_grad(&Array1::zeros(0))).is_err());
                assert!(std::panic::catch_unwind(|| largest_grad(&[])).is_err());
                assert!(std::panic::catch_unwind(|| smallest_grad(&Array2::zeros((0, 2)))).is_err());
                assert_eq!(shares_vjp(&none, &none).1, none);
            }
        }
    };
}

conventions!(single, f32);
conventions!(double, f64);
