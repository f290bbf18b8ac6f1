//! Recorded conversations through the tool's own input and output. The suite's validators accepted
//! the recorded answers.

mod common;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use common::{agree, case, conversation};
use serde_json::{Value, json};

/// A running tool.
struct Tool {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Tool {
    fn start() -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_ad-gradbench"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the tool");
        let (input, output) = (process.stdin.take(), process.stdout.take().expect("a pipe"));
        Self { process, input, output: BufReader::new(output) }
    }

    /// Sends a line and reads the one line of the answer.
    fn line(&mut self, line: &str) -> Value {
        let input = self.input.as_mut().expect("it is open");
        writeln!(input, "{line}").expect("the tool reads");
        let mut answer = String::new();
        self.output.read_line(&mut answer).expect("the tool answers");
        serde_json::from_str(&answer).expect("JSON")
    }

    /// The end of the input ends the tool.
    fn end(mut self) {
        self.input = None;
        assert!(self.process.wait().expect("it ends").success());
        let mut rest = String::new();
        self.output.read_line(&mut rest).expect("the end");
        assert_eq!(rest, "", "more lines than messages");
    }
}

/// The timings are as many as the input asks for. They are taken out of the answer.
fn check_timings(message: &Value, answer: &mut Value) {
    let evaluated = answer["success"] == json!(true) && message["kind"] == "evaluate";
    let timings = answer.as_object_mut().expect("an object").remove("timings");
    assert_eq!(timings.is_some(), evaluated, "{answer}");
    let Some(timings) = timings else { return };
    let timings = timings.as_array().expect("a list").clone();
    assert!(timings.iter().all(|t| t["name"] == "evaluate"), "{timings:?}");
    let total: u64 = timings.iter().map(|t| t["nanoseconds"].as_u64().expect("a number")).sum();
    let input = &message["input"];
    assert!(timings.len() as u64 >= input["min_runs"].as_u64().unwrap_or(1).max(1), "{timings:?}");
    assert!(total as f64 >= 1e9 * input["min_seconds"].as_f64().unwrap_or(0.0), "{total}");
}

fn replay(rounds: &[(Value, Value)]) {
    let mut tool = Tool::start();
    for (message, expected) in rounds {
        let mut answer = tool.line(&message.to_string());
        check_timings(message, &mut answer);
        let what = format!("{} {}", message["module"], message["function"]);
        agree(&what, &answer, expected, 1e-10);
    }
    tool.end();
}

/// The conversation that the suite has about a case.
fn about(file: &str, fields: &[(&str, &str)]) -> Vec<(Value, Value)> {
    let case = case(file);
    let mut rounds = vec![
        (json!({"id": 0, "kind": "start", "eval": case["eval"]}), json!({"id": 0, "tool": "ad"})),
        (json!({"id": 1, "kind": "define", "module": case["eval"]}), json!({"id": 1, "success": true})),
    ];
    let mut input = case["input"].clone();
    (input["min_runs"], input["min_seconds"]) = (json!(2), json!(0.01));
    for (function, field) in fields {
        let id = rounds.len();
        let message = json!({
            "id": id, "kind": "evaluate", "module": case["eval"], "function": function, "input": input,
            "description": file,
        });
        rounds.push((message, json!({"id": id, "success": true, "output": case[field]})));
        let message = json!({"id": id + 1, "kind": "analysis", "of": id, "valid": true});
        rounds.push((message, json!({"id": id + 1})));
    }
    rounds
}

/// A test for each recorded conversation.
macro_rules! recorded {
    ($($eval:ident)*) => { $(
        #[test]
        fn $eval() {
            replay(&conversation(stringify!($eval)));
        }
    )* };
}

recorded!(hello lse llsq det ode gmm kmeans lstm ba particle saddle);

/// The recording lacks the evaluation of `dir`.
#[test]
fn kmeans_direction() {
    replay(&about("kmeans_n200_d5_k10.json", &[("cost", "cost"), ("dir", "dir")]));
}

/// A recording would be too long.
#[test]
fn ht() {
    let fields = [("objective", "objective"), ("jacobian", "jacobian")];
    replay(&about("ht_simple_small_hand1.json.gz", &fields));
}

/// An answer to a wrong message does not end the conversation, and empty lines are none.
#[test]
fn a_conversation_goes_on_after_wrong_messages() {
    let mut tool = Tool::start();
    let answer = tool.line("no message");
    assert_eq!((&answer["id"], &answer["success"]), (&Value::Null, &json!(false)), "{answer}");
    let panics = json!({"id": 1, "kind": "evaluate", "module": "lse", "function": "primal", "input": {"x": []}});
    let answer = tool.line(&panics.to_string());
    assert_eq!((&answer["id"], &answer["success"]), (&json!(1), &json!(false)), "{answer}");
    let good = json!({"id": 2, "kind": "evaluate", "module": "hello", "function": "square", "input": 3});
    let answer = tool.line(&format!("\r\n\n{good}"));
    assert_eq!((&answer["id"], &answer["output"]), (&json!(2), &json!(9.0)), "{answer}");
    tool.end();
}
