//! The jumps that can leave a construct at a point of the function, and whether the point is
//! reached at all.
//!
//! Invariants: the targets are the enclosing functions, labelled blocks, loops and steps, the
//! innermost last. The step of a loop follows the loop. A jump is recorded at the innermost target
//! that it leaves without leaving a step; a loop carries the jumps out of its steps.
//!
//! This module must never make a term or merge two paths (`flow`).

use super::cells::{Cell, Store};
use super::restored::restored;
use crate::loop_effects::Jump;
use crate::value::Value;
use ad_ir::analysis::guards::Guard;

/// A construct that a jump can leave: a function, a labelled block, a loop or a loop body.
#[derive(Clone, Debug)]
pub(crate) struct JumpTarget<'a> {
    kind: TargetKind,
    label: Option<String>,
    /// The number of frames and cells when the construct was entered.
    frames: usize,
    cells: usize,
    exits: Vec<Exit<'a>>,
    /// For a loop body: the jumps in it that leave an outer target.
    outer_jumps: Vec<OuterJump>,
}

/// A jump out of a loop. It ends the current step. The loop carries a flag that the jump was taken,
/// and the value of the jump.
#[derive(Clone, Debug)]
pub(crate) struct OuterJump {
    /// The index of the target that the jump leaves.
    pub target: usize,
    /// Whether the jump was taken.
    pub flag: Cell,
    pub value: Cell,
    /// Variables that are not assigned before the loop, each with the cell that carries its value
    /// at the jump.
    pub assigned_inside: Vec<(Cell, Cell)>,
    /// Variables that are dead, because the jump returns from the function.
    pub dead: Vec<Cell>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TargetKind {
    /// A function or closure. `return` leaves it.
    Function,
    /// A block with a label. `break 'label` leaves it.
    Block,
    /// A loop. `break` leaves it. The jump is always in a step, so the exit is recorded for the
    /// step.
    Loop,
    /// A step of a loop. `continue` and every jump to an outer target leave it.
    Step,
}

/// A recorded jump.
#[derive(Clone, Debug)]
pub(crate) struct Exit<'a> {
    /// The path condition, the outermost guard first.
    pub path: Vec<Guard>,
    pub store: Store<'a>,
    pub value: Value<'a>,
}

/// The construct at which a jump is recorded.
pub(crate) struct Recorder {
    target: usize,
    /// The number of frames and cells when the construct was entered.
    pub frames: usize,
    pub cells: usize,
}

restored! {
    /// The jumps at a point of the function.
    pub(crate) struct Jumps<'a> {
        /// Whether the current program point is reachable.
        reachable: bool,
        /// The enclosing functions, labelled blocks, loops and loop bodies that a jump can leave,
        /// the innermost last.
        targets: Vec<JumpTarget<'a>>,
        /// The first term that was created after a jump out of the current block, if there was one.
        after_jump: Option<usize>,
    }
}

/// What encloses a target.
pub(crate) struct OuterJumps {
    after_jump: Option<usize>,
}

/// What a target has recorded: its exits, and the first term that was created after a jump.
pub(crate) struct Recorded<'a> {
    pub exits: Vec<Exit<'a>>,
    pub after_jump: Option<usize>,
}

impl<'a> Jumps<'a> {
    /// At the start of a function.
    pub(crate) fn of_function() -> Self {
        Jumps { reachable: true, ..Jumps::default() }
    }

    /// Whether the current program point is reachable.
    pub(crate) fn reachable(&self) -> bool {
        self.reachable
    }

    /// Says whether the current point is reachable: at the end of a construct, or in an arm.
    pub(crate) fn set_reachable(&mut self, reachable: bool) {
        self.reachable = reachable;
    }

    /// Notes that the terms from this number on are created after a jump.
    pub(crate) fn note_guard(&mut self, terms: usize) {
        self.after_jump.get_or_insert(terms);
    }

    /// The number of exits recorded so far for the current targets.
    pub(crate) fn exit_count(&self) -> usize {
        self.targets.iter().map(|t| t.exits.len()).sum()
    }

    /// Enters a function, a block or a step. `depths` are the numbers of frames and cells.
    pub(crate) fn enter(
        &mut self,
        (kind, outer_jumps): (TargetKind, Vec<OuterJump>),
        label: Option<String>,
        (frames, cells): (usize, usize),
    ) -> OuterJumps {
        self.targets.push(JumpTarget { kind, label, frames, cells, exits: Vec::new(), outer_jumps });
        OuterJumps { after_jump: self.after_jump.take() }
    }

    /// Leaves a function, a block or a step.
    pub(crate) fn leave(&mut self, outer: OuterJumps) -> Recorded<'a> {
        let after_jump = std::mem::replace(&mut self.after_jump, outer.after_jump);
        let exits = self.targets.pop().map_or_else(Vec::new, |t| t.exits);
        Recorded { exits, after_jump }
    }

    /// Enters a loop. Returns the index of its target.
    pub(crate) fn enter_loop(&mut self, label: Option<String>, (frames, cells): (usize, usize)) -> usize {
        let (kind, exits, outer_jumps) = (TargetKind::Loop, Vec::new(), Vec::new());
        self.targets.push(JumpTarget { kind, label, frames, cells, exits, outer_jumps });
        self.targets.len() - 1
    }

    /// Leaves a loop with this index.
    pub(crate) fn leave_loop(&mut self, at: usize) {
        self.targets.truncate(at);
    }

    /// Whether the target with this index is of a kind.
    fn is(&self, k: usize, kind: TargetKind) -> bool {
        self.targets.get(k).is_some_and(|t| t.kind == kind)
    }

    /// Whether a target is a loop.
    pub(crate) fn is_loop(&self, k: usize) -> bool {
        self.is(k, TargetKind::Loop)
    }

    /// Whether a target is the function or closure. Its variables are dead after the jump.
    pub(crate) fn leaves_function(&self, k: usize) -> bool {
        self.is(k, TargetKind::Function)
    }

    /// The index of the enclosing function or closure.
    pub(crate) fn function_around(&self) -> Option<usize> {
        self.targets.iter().rposition(|t| t.kind == TargetKind::Function)
    }

    /// The index of the innermost loop of the enclosing function.
    pub(crate) fn innermost_loop(&self) -> Option<usize> {
        let function = self.function_around().unwrap_or(0);
        self.targets.iter().rposition(|t| t.kind == TargetKind::Loop).filter(|&k| k > function)
    }

    /// The index of the innermost construct with a label in the enclosing function.
    pub(crate) fn label_at(&self, name: &str) -> Option<usize> {
        let function = self.function_around().unwrap_or(0);
        let mut inside = self.targets.iter().enumerate().skip(function).rev();
        inside.find(|(_, t)| t.label.as_deref() == Some(name)).map(|(k, _)| k)
    }

    /// The target of a jump out of the loop at index `own`. `None` for a `continue` of that loop
    /// and for an unknown label.
    pub(crate) fn target_of(&self, jump: &Jump, own: usize) -> Option<usize> {
        match jump {
            Jump::Break(None) => Some(own),
            Jump::Break(Some(label)) => self.label_at(label),
            Jump::Continue(label) => self.label_at(label).filter(|&k| k != own).map(|k| k + 1),
            Jump::Return => self.function_around(),
        }
    }

    /// The labels of the enclosing constructs.
    pub(crate) fn labels(&self) -> impl Iterator<Item = &str> {
        self.targets.iter().filter_map(|t| t.label.as_deref())
    }

    /// The step that a jump to target `k` ends, if it leaves a loop: its index, and how the loop
    /// carries the jump. `None` in it if the loop does not foresee the jump.
    pub(crate) fn step_left(&self, k: usize) -> Option<(usize, Option<&OuterJump>)> {
        let mut inside = self.targets.iter().enumerate().skip(k + 1).rev();
        let (step, target) = inside.find(|(_, t)| t.kind == TargetKind::Step)?;
        Some((step, target.outer_jumps.iter().find(|jump| jump.target == k)))
    }

    /// The target with an index, as the one that records a jump.
    pub(crate) fn recorder(&self, target: usize) -> Recorder {
        let (frames, cells) = self.targets.get(target).map_or((0, 0), |t| (t.frames, t.cells));
        Recorder { target, frames, cells }
    }

    /// Records a jump.
    pub(crate) fn record(&mut self, at: &Recorder, exit: Exit<'a>) {
        if let Some(target) = self.targets.get_mut(at.target) {
            target.exits.push(exit);
        }
    }
}
