//! A renderer of spheres: rays from a camera, the nearest hit, light from a lamp. The gradient of
//! the difference from a picture moves the spheres.

use ad::check_grad;
use ad::prelude::*;

#[differentiable]
fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[differentiable]
fn add(a: [f64; 3], scale: f64, b: [f64; 3]) -> [f64; 3] {
    [a[0] + scale * b[0], a[1] + scale * b[1], a[2] + scale * b[2]]
}

#[differentiable]
fn normalised(a: [f64; 3]) -> [f64; 3] {
    let length = dot(a, a).sqrt();
    a.map(|x| x / length)
}

/// The brightness of each pixel. A sphere is a row: centre, radius and reflectance.
#[differentiate(wrt(spheres, lamp))]
fn render(spheres: &Array2<f64>, lamp: [f64; 3], width: usize, height: usize) -> Array2<f64> {
    #[derive(Clone, Copy)]
    struct Ray {
        origin: [f64; 3],
        direction: [f64; 3],
    }

    #[derive(Clone, Copy)]
    struct Sphere {
        centre: [f64; 3],
        radius: f64,
        reflectance: f64,
    }

    #[derive(Clone, Copy)]
    struct Hit {
        distance: f64,
        point: [f64; 3],
        normal: [f64; 3],
        reflectance: f64,
    }

    impl Sphere {
        fn hit(&self, ray: &Ray) -> Option<Hit> {
            let from = add(ray.origin, -1.0, self.centre);
            let b = dot(from, ray.direction);
            let discriminant = b * b - dot(from, from) + self.radius * self.radius;
            if discriminant <= 0.0 {
                return None;
            }
            let distance = -b - discriminant.sqrt();
            if distance < 1e-6 {
                return None;
            }
            let point = add(ray.origin, distance, ray.direction);
            let normal = add(point, -1.0, self.centre).map(|x| x / self.radius);
            Some(Hit { distance, point, normal, reflectance: self.reflectance })
        }
    }

    fn nearest(spheres: &[Sphere], ray: &Ray) -> Option<Hit> {
        let mut best: Option<Hit> = None;
        for sphere in spheres {
            if let Some(hit) = sphere.hit(ray) {
                if best.is_none_or(|b| hit.distance < b.distance) {
                    best = Some(hit);
                }
            }
        }
        best
    }

    let scene: Vec<Sphere> = spheres
        .rows()
        .into_iter()
        .map(|s| Sphere { centre: [s[0], s[1], s[2]], radius: s[3], reflectance: s[4] })
        .collect();
    let mut picture = Array2::zeros((height, width));
    for row in 0..height {
        for column in 0..width {
            let x = (column as f64 + 0.5) / width as f64 - 0.5;
            let y = 0.5 - (row as f64 + 0.5) / height as f64;
            let ray = Ray { origin: [0.0; 3], direction: normalised([x, y, 1.0]) };
            let Some(hit) = nearest(&scene, &ray) else {
                picture[[row, column]] = 0.1;
                continue;
            };
            let to_lamp = normalised(add(lamp, -1.0, hit.point));
            let lit = dot(hit.normal, to_lamp).max(0.0);
            let shadow = Ray { origin: hit.point, direction: to_lamp };
            let light = if nearest(&scene, &shadow).is_some() { 0.0 } else { lit };
            picture[[row, column]] = hit.reflectance * (0.2 + 0.8 * light);
        }
    }
    picture
}

/// The squared difference from a picture.
#[differentiate(wrt(spheres, lamp))]
fn difference(spheres: &Array2<f64>, lamp: [f64; 3], target: &Array2<f64>) -> f64 {
    let (height, width) = target.dim();
    let picture = render(spheres, lamp, width, height);
    (&picture - target).mapv(|d| d * d).sum()
}

fn scene() -> (Array2<f64>, [f64; 3]) {
    (array![[0.1, 0.05, 3.0, 0.8, 0.9], [-0.5, 0.4, 2.2, 0.35, 0.6], [0.4, -0.5, 2.6, 0.3, 0.7]], [2.0, 3.0, -1.0])
}

/// If one pixel looks straight at a sphere and the lamp is at the camera, the pixel has the
/// reflectance of the sphere, wherever the sphere is.
#[test]
fn a_sphere_in_front_is_as_bright_as_it_is() {
    let sphere = array![[0.0, 0.0, 4.0, 1.0, 0.75]];
    let (picture, (dsphere, dlamp)) = render_vjp(&sphere, [0.0; 3], 1, 1, &array![[1.0]]);
    assert_eq!(picture, array![[0.75]]);
    assert!((dsphere[[0, 4]] - 1.0).abs() < 1e-12);
    assert!(dsphere.iter().take(4).chain(&dlamp).all(|x| x.abs() < 1e-12), "{dsphere} {dlamp:?}");
    // If no ray meets a sphere, all derivatives are zero.
    let (picture, (dsphere, _)) = render_vjp(&array![[5.0, 0.0, 4.0, 1.0, 0.75]], [0.0; 3], 1, 1, &array![[1.0]]);
    assert_eq!((picture, dsphere), (array![[0.1]], Array2::zeros((1, 5))));
}

/// A step against the gradient makes the picture more like the target.
#[test]
fn the_gradient_improves_the_picture() {
    let (spheres, lamp) = scene();
    let target = render(&spheres, lamp, 8, 6);
    let mut guess = spheres.clone();
    guess[[0, 4]] = 0.5;
    let (before, (gradient, _)) = difference_value_and_grad(&guess, lamp, &target);
    guess.scaled_add(-1e-3, &gradient);
    assert!(difference(&guess, lamp, &target) < before);
    assert_eq!(difference_grad(&spheres, lamp, &target).0, Array2::zeros((3, 5)));
}

#[test]
fn differences_agree() {
    let (spheres, lamp) = scene();
    check_grad!(difference(&spheres, lamp, &Array2::from_elem((5, 6), 0.3)));
}
