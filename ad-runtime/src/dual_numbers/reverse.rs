//! Numbers of reverse mode: a value, and the identity of its entry of the tape (DN section 9.3,
//! with the identities of section 6). This module must never hold a rule of differentiation.

use core::cell::RefCell;

use super::forward::Forward;
use super::rules::Number;
use super::tape::{CONSTANT, Recorder};
use crate::Real;

/// A number of type `T`, and the entry of the tape with its dependence on the arguments of the
/// running call. A constant has none.
#[derive(Clone, Copy, Default)]
pub struct Reverse<T> {
    pub(super) value: T,
    pub(super) position: u32,
    pub(super) generation: u32,
}

#[cfg(feature = "std")]
impl<T: Real> Reverse<T> {
    /// A new argument of the running call.
    pub(super) fn argument(value: T) -> Self {
        T::with_recorder(|recorder| {
            let (position, generation) = recorder.borrow_mut().push([CONSTANT; 2], [T::zero(); 2]);
            Reverse { value, position, generation }
        })
    }
}

impl<T: Real> Number for Reverse<T> {
    type Inner = T;

    #[inline(always)]
    fn constant(value: T) -> Self {
        Reverse { value, position: CONSTANT, generation: 0 }
    }

    #[inline(always)]
    fn primal(self) -> T {
        self.value
    }

    #[inline(always)]
    fn vanishes(self) -> bool {
        self.is_constant() && self.value.vanishes()
    }

    #[inline(always)]
    fn is_constant(self) -> bool {
        self.position == CONSTANT
    }

    #[inline(always)]
    fn shifted(self, value: T) -> Self {
        Reverse { value, ..self }
    }

    #[inline(always)]
    fn unary(self, value: T, partial: impl FnOnce() -> T) -> Self {
        if self.is_constant() {
            return Self::constant(value);
        }
        let partials = [partial(), T::zero()];
        T::with_recorder(|recorder| {
            let mut recorder = recorder.borrow_mut();
            recorder.check(self.generation, self.position);
            let (position, generation) = recorder.push([self.position, CONSTANT], partials);
            Reverse { value, position, generation }
        })
    }

    #[inline(always)]
    fn binary(self, other: Self, value: T, first: impl FnOnce() -> T, second: impl FnOnce() -> T) -> Self {
        if self.is_constant() {
            return other.unary(value, second);
        }
        if other.is_constant() {
            return self.unary(value, first);
        }
        let partials = [first(), second()];
        T::with_recorder(|recorder| {
            let mut recorder = recorder.borrow_mut();
            recorder.check(self.generation, self.position);
            recorder.check(other.generation, other.position);
            let (position, generation) = recorder.push([self.position, other.position], partials);
            Reverse { value, position, generation }
        })
    }
}

/// A number type whose operations can be recorded. Each type has one recorder in each thread.
///
/// `f32`, `f64` and the numbers of forward mode over them have static recorders; the recorders of
/// other types are found in a list.
pub trait Reversible: Sized + 'static {
    /// Calls `f` with the recorder of the thread.
    fn with_recorder<R>(f: impl FnOnce(&RefCell<Recorder<Self>>) -> R) -> R;

    /// Calls `f` with the recorder for numbers of forward mode over this type.
    fn with_recorder_of_forward<R>(f: impl FnOnce(&RefCell<Recorder<Forward<Self>>>) -> R) -> R {
        with_registry(f)
    }
}

/// Calls `f` with the recorder of a type that has no static one.
#[cfg(feature = "std")]
fn with_registry<T: 'static, R>(f: impl FnOnce(&RefCell<Recorder<T>>) -> R) -> R {
    use alloc::rc::Rc;
    use alloc::vec::Vec;
    use core::any::{Any, TypeId};

    type Registry = RefCell<Vec<(TypeId, Rc<dyn Any>)>>;
    std::thread_local! {
        static REGISTRY: Registry = const { RefCell::new(Vec::new()) };
    }
    let of = TypeId::of::<T>();
    let found = REGISTRY.with(|registry| {
        let mut registry = registry.borrow_mut();
        match registry.iter().find(|one| one.0 == of) {
            Some(one) => one.1.clone(),
            None => {
                let new: Rc<dyn Any> = Rc::new(RefCell::new(Recorder::<T>::new()));
                registry.push((of, new.clone()));
                new
            }
        }
    });
    let recorder = found.downcast_ref::<RefCell<Recorder<T>>>();
    f(recorder.unwrap_or_else(|| unreachable!("each type has its own recorder")))
}

/// Without std no call makes a number with a place on a tape, so no operation is recorded.
#[cfg(not(feature = "std"))]
fn with_registry<T: 'static, R>(_: impl FnOnce(&RefCell<Recorder<T>>) -> R) -> R {
    unreachable!("numbers of reverse mode need the feature `std`")
}

/// Calls a function with the static recorder of a type.
#[cfg(feature = "std")]
macro_rules! with_static {
    ($t:ty, $f:ident) => {{
        std::thread_local! {
            static RECORDER: RefCell<Recorder<$t>> = const { RefCell::new(Recorder::new()) };
        }
        RECORDER.with($f)
    }};
}

#[cfg(not(feature = "std"))]
macro_rules! with_static {
    ($t:ty, $f:ident) => {
        with_registry::<$t, R>($f)
    };
}

macro_rules! recorders {
    ($($t:ident),*) => {$(
        impl Reversible for $t {
            #[inline(always)]
            fn with_recorder<R>(f: impl FnOnce(&RefCell<Recorder<$t>>) -> R) -> R {
                with_static!($t, f)
            }
            #[inline(always)]
            fn with_recorder_of_forward<R>(f: impl FnOnce(&RefCell<Recorder<Forward<$t>>>) -> R) -> R {
                with_static!(Forward<$t>, f)
            }
        }
    )*};
}
recorders!(f32, f64);

impl<T: Real> Reversible for Reverse<T> {
    fn with_recorder<R>(f: impl FnOnce(&RefCell<Recorder<Self>>) -> R) -> R {
        with_registry(f)
    }
}

impl<T: Real> Reversible for Forward<T> {
    #[inline(always)]
    fn with_recorder<R>(f: impl FnOnce(&RefCell<Recorder<Self>>) -> R) -> R {
        T::with_recorder_of_forward(f)
    }
}
