//! With `AD_DOCS` in the environment, the output of a bench also replaces its section of
//! `docs/performance.md`, so that the figures there are those of one run.

use std::path::Path;
use std::process::Command;

/// Replaces the text between `<!-- section -->` and `<!-- end of section -->`.
pub fn write(section: &str, text: &str) {
    if std::env::var_os("AD_DOCS").is_none() {
        return;
    }
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path =
        package.ancestors().map(|p| p.join("docs/performance.md")).find(|p| p.exists()).expect("docs/performance.md");
    let (start, end) = (format!("<!-- {section} -->\n"), format!("<!-- end of {section} -->"));
    let file = std::fs::read_to_string(&path).expect("docs/performance.md");
    let (before, rest) = file.split_once(&start).expect("where the section starts");
    let (_, after) = rest.split_once(&end).expect("where the section ends");
    std::fs::write(&path, format!("{before}{start}{text}{end}{after}")).expect("docs/performance.md is written");
}

/// The names of the processor and of the compiler, as far as they are known.
pub fn machine() -> String {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": ")).map(|(_, name)| name);
    let model = model.unwrap_or("processor unknown");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let rustc = Command::new("rustc").arg("--version").output();
    let rustc = rustc.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_string()).unwrap_or_default();
    format!("{model} ({cores} cores, {}-{}), {rustc}", std::env::consts::ARCH, std::env::consts::OS)
}
