//! GradBench's `kmeans`: the cost of centroids, over whole arrays.

use ad::prelude::*;

/// The sum of the squared distances to the nearest centroid.
#[differentiate(grad, hvp, hessian, wrt(centroids))]
pub fn kmeans(points: &Array2<f64>, centroids: &Array2<f64>) -> f64 {
    let nearest = build1(points.nrows(), |i| {
        minimum(&build1(centroids.nrows(), |j| {
            let d = &points.row(i) - &centroids.row(j);
            d.dot(&d)
        }))
    });
    nearest.sum()
}
