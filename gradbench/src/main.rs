//! The tool: messages come in at standard input, answers go out at standard output.

use std::io::{self, BufRead, Write};

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().split(b'\n') {
        let line = line?;
        if !line.trim_ascii().is_empty() {
            writeln!(out, "{}", ad_gradbench::answer(&line))?;
            out.flush()?;
        }
    }
    Ok(())
}
