//! Bodies that attract each other, in a list of structs: a leapfrog integrator, its energy, and the
//! start that leads to a given end.

use ad::check_grad;
use ad::prelude::*;

/// The squared distance of the bodies from where they were seen, after some steps. A row of `start`
/// is the position and the velocity of a body.
#[differentiate(wrt(start, masses))]
fn missed(start: &Array2<f64>, masses: &[f64], seen: &Array2<f64>, dt: f64, steps: usize) -> f64 {
    let bodies = simulated(start, masses, dt, steps);
    (&bodies.slice(s![.., ..3]) - seen).mapv(|d| d * d).sum()
}

/// Positions and velocities after some steps.
#[differentiate(vjp, jvp, wrt(start, masses))]
fn simulated(start: &Array2<f64>, masses: &[f64], dt: f64, steps: usize) -> Array2<f64> {
    #[derive(Clone, Copy)]
    struct Vector {
        x: f64,
        y: f64,
        z: f64,
    }

    impl std::ops::Add for Vector {
        type Output = Vector;
        fn add(self, other: Vector) -> Vector {
            Vector { x: self.x + other.x, y: self.y + other.y, z: self.z + other.z }
        }
    }

    impl std::ops::Sub for Vector {
        type Output = Vector;
        fn sub(self, other: Vector) -> Vector {
            Vector { x: self.x - other.x, y: self.y - other.y, z: self.z - other.z }
        }
    }

    impl std::ops::Mul<f64> for Vector {
        type Output = Vector;
        fn mul(self, by: f64) -> Vector {
            Vector { x: self.x * by, y: self.y * by, z: self.z * by }
        }
    }

    impl Vector {
        const ZERO: Vector = Vector { x: 0.0, y: 0.0, z: 0.0 };
        fn squared(self) -> f64 {
            self.x * self.x + self.y * self.y + self.z * self.z
        }
    }

    #[derive(Clone)]
    struct Body {
        position: Vector,
        velocity: Vector,
        mass: f64,
    }

    impl Body {
        fn kick(&mut self, acceleration: Vector, dt: f64) {
            self.velocity = self.velocity + acceleration * dt;
        }
        fn drift(&mut self, dt: f64) {
            self.position = self.position + self.velocity * dt;
        }
    }

    /// The acceleration of each body by all other bodies. It is softened, so that it stays finite
    /// if bodies meet.
    fn accelerations(bodies: &[Body]) -> Vec<Vector> {
        let mut all = vec![Vector::ZERO; bodies.len()];
        for i in 0..bodies.len() {
            for j in 0..bodies.len() {
                if i != j {
                    let to = bodies[j].position - bodies[i].position;
                    let squared = to.squared() + 0.01;
                    all[i] = all[i] + to * (bodies[j].mass / (squared * squared.sqrt()));
                }
            }
        }
        all
    }

    let mut bodies: Vec<Body> = Vec::new();
    for (row, &mass) in start.rows().into_iter().zip(masses) {
        let position = Vector { x: row[0], y: row[1], z: row[2] };
        let velocity = Vector { x: row[3], y: row[4], z: row[5] };
        bodies.push(Body { position, velocity, mass });
    }
    for _ in 0..steps {
        let forces = accelerations(&bodies);
        for (body, force) in bodies.iter_mut().zip(forces) {
            body.kick(force, 0.5 * dt);
        }
        for body in &mut bodies {
            body.drift(dt);
        }
        let forces = accelerations(&bodies);
        for (body, force) in bodies.iter_mut().zip(forces) {
            body.kick(force, 0.5 * dt);
        }
    }
    let mut end = Array2::zeros((bodies.len(), 6));
    for (mut row, body) in end.rows_mut().into_iter().zip(&bodies) {
        let (p, v) = (body.position, body.velocity);
        row.assign(&array![p.x, p.y, p.z, v.x, v.y, v.z]);
    }
    end
}

fn system() -> (Array2<f64>, [f64; 3]) {
    let start =
        array![[1.0, 0.1, -0.2, 0.0, 0.4, 0.1], [-0.9, 0.2, 0.3, 0.1, -0.5, 0.0], [0.1, -0.8, 0.0, 0.3, 0.0, -0.2]];
    (start, [1.0, 0.7, 0.3])
}

/// A body alone moves straight on, so where it is after a time depends on where it was by 1 and on
/// its velocity by that time.
#[test]
fn a_single_body_moves_in_a_straight_line() {
    let start = array![[0.3, -0.2, 0.5, 1.0, 2.0, -1.0]];
    let (end, (gradient, mass)) = simulated_vjp(&start, &[2.0], 0.1, 20, &array![[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]]);
    assert!((end[[0, 0]] - 2.3).abs() < 1e-12 && (end[[0, 1]] - 3.8).abs() < 1e-12);
    assert!((gradient[[0, 0]] - 1.0).abs() < 1e-14 && (gradient[[0, 3]] - 2.0).abs() < 1e-14);
    assert_eq!(mass, [0.0]);
}

/// The total momentum is constant, whatever the forces are, and so is its derivative.
#[test]
fn momentum_is_kept() {
    let (start, masses) = system();
    let momentum = Array2::from_shape_fn((3, 6), |(i, k)| if k == 3 { masses[i] } else { 0.0 });
    let (end, (gradient, _)) = simulated_vjp(&start, &masses, 0.05, 40, &momentum);
    let of = |state: &Array2<f64>| (0..3).map(|i| masses[i] * state[[i, 3]]).sum::<f64>();
    assert!((of(&end) - of(&start)).abs() < 1e-12);
    assert!((&gradient - &momentum).iter().all(|d| d.abs() < 1e-12), "{gradient}");
}

/// Leapfrog can be run backwards, so its Jacobian keeps volumes: the product with a direction and
/// back is the direction.
#[test]
fn integration_is_reversible() {
    let (start, masses) = system();
    let direction = Array2::from_shape_fn((3, 6), |(i, k)| ((i * 6 + k) as f64).sin());
    let (end, moved) = simulated_jvp(&start, &masses, 0.05, 10, &direction, &[0.0; 3]);
    let (again, back) = simulated_jvp(&end, &masses, -0.05, 10, &moved, &[0.0; 3]);
    assert!((&again - &start).iter().chain(&(&back - &direction)).all(|d| d.abs() < 1e-10));
}

#[test]
fn differences_agree() {
    let (start, masses) = system();
    check_grad!(missed(&start, &masses, &Array2::from_elem((3, 3), 0.2), 0.05, 8));
}
