//! Messages and answers.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::evals::{EVALS, Outcome, named};

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    kind: String,
    module: Option<String>,
    function: Option<String>,
    #[serde(default)]
    input: Value,
}

#[derive(Default, Serialize)]
struct Answer {
    id: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    success: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timings: Option<Vec<Timing>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Serialize)]
struct Timing {
    name: &'static str,
    nanoseconds: u128,
}

/// The answer to one line. A wrong message has an answer that says what is wrong with it.
#[must_use]
pub fn answer(line: &[u8]) -> String {
    let answer = match serde_json::from_slice(line) {
        Ok(message) => respond(message),
        Err(e) => {
            // The identity of a message whose other fields are wrong.
            let id = serde_json::from_slice::<Value>(line).ok().and_then(|m| m.get("id").cloned());
            failure(id.unwrap_or_default(), format!("this is no message of the protocol: {e}"))
        }
    };
    serde_json::to_string(&answer).expect("keys are strings")
}

fn respond(message: Message) -> Answer {
    let Message { id, kind, .. } = &message;
    let id = id.clone();
    match kind.as_str() {
        "start" => Answer { id, tool: Some("ad"), ..Answer::default() },
        "define" => match eval_of(&message) {
            Ok(_) => Answer { id, success: Some(true), ..Answer::default() },
            Err(error) => failure(id, error),
        },
        "evaluate" => match evaluate(message) {
            Ok(Outcome { output, times }) => {
                let timing = |nanoseconds| Timing { name: "evaluate", nanoseconds };
                let timings = Some(times.into_iter().map(timing).collect());
                Answer { id, success: Some(true), output: Some(output), timings, ..Answer::default() }
            }
            Err(error) => failure(id, error),
        },
        _ => Answer { id, ..Answer::default() },
    }
}

fn failure(id: Value, error: String) -> Answer {
    Answer { id, success: Some(false), error: Some(error), ..Answer::default() }
}

fn eval_of(message: &Message) -> Result<&'static crate::Eval, String> {
    let name = message.module.as_deref().ok_or("the message names no `module`")?;
    named(EVALS, |e| e.name, name, "there is no module")
}

fn evaluate(message: Message) -> Result<Outcome, String> {
    let eval = eval_of(&message)?;
    let name = message.function.as_deref().ok_or("the message names no `function`")?;
    let (_, run) = named(eval.functions, |f| f.0, name, &format!("module `{}` has no function", eval.name))?;
    // What the functions themselves check, such as sizes, they say by a panic.
    let result = catch_unwind(AssertUnwindSafe(|| run(message.input)));
    let failed = |said: &str| format!("`{}` of `{}`: {said}", name, eval.name);
    match result {
        Ok(outcome) => outcome.map_err(|e| failed(&e)),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            Err(failed(text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without a text")))
        }
    }
}
