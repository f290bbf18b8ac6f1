//! The statements of a routine as JSON.

use ad_ir::ir::Loc;
use ad_middle::pipeline::explained::{About, Count, Formula, Memory, Part, Read, RoutineFacts, Statement};

use super::json::Json;

/// A routine. `number` gives the places of a term in the page.
pub(super) fn of_routine(routine: &RoutineFacts, number: &dyn Fn(&About, Loc) -> Vec<usize>) -> Json {
    let about = About { subject: routine.subject.clone(), routine: routine.name.clone() };
    let statement = |s: &Statement| {
        let mut places: Vec<usize> = s.places.iter().flat_map(|&loc| number(&about, loc)).collect();
        places.sort_unstable();
        places.dedup();
        Json::Object(vec![
            ("number", s.number.into()),
            ("inside", s.inside.into()),
            ("name", s.name.as_str().into()),
            ("kind", s.kind.into()),
            ("terms", s.terms.iter().map(|t| t.index()).collect()),
            ("places", places.into_iter().collect()),
            ("guarded", s.guarded.into()),
            ("part", s.part.map(of_part).into()),
            ("result", s.result.into()),
            ("reads", s.reads.iter().map(of_read).collect()),
            ("runs", s.runs.iter().map(of_formula).collect()),
            ("steps", s.steps.as_ref().map(of_formula).into()),
            ("counts", s.counts.as_ref().map(|all| all.iter().map(of_count).collect::<Json>()).into()),
            ("memory", s.memory.iter().map(of_memory).collect()),
        ])
    };
    Json::Object(vec![
        ("subject", routine.subject.as_str().into()),
        ("name", routine.name.as_str().into()),
        ("statements", routine.statements.iter().map(statement).collect()),
    ])
}

fn of_part(part: Part) -> &'static str {
    match part {
        Part::Function => "function",
        Part::Derivative => "derivative",
        Part::Both => "both",
    }
}

fn of_read(read: &Read) -> Json {
    Json::Object(match read {
        Read::Input(name) => vec![("input", name.as_str().into())],
        Read::Statement(k) | Read::State(k) => vec![("statement", (*k).into())],
    })
}

fn of_count(count: &Count) -> Json {
    Json::Object(vec![
        ("times", count.times.iter().map(of_formula).collect()),
        ("arithmetic", count.arithmetic.into()),
        ("divisions", count.divisions.into()),
        ("functions", count.functions.into()),
    ])
}

fn of_memory(memory: &Memory) -> Json {
    Json::Object(vec![("name", memory.name.as_str().into()), ("bytes", of_formula(&memory.bytes))])
}

fn of_formula(formula: &Formula) -> Json {
    match formula {
        Formula::Number(n) => (*n).into(),
        Formula::Size(name) | Formula::Named(name) => Json::Object(vec![("size", name.as_str().into())]),
        Formula::Apply(op, args) => {
            Json::Object(vec![("op", (*op).into()), ("args", args.iter().map(of_formula).collect())])
        }
        Formula::Computed(what) | Formula::Unknown(what) => Json::Object(vec![("unknown", what.as_str().into())]),
    }
}
