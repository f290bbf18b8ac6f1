//! The pages of `AD_EXPLAIN`: one HTML file for each annotated function, with everything that it
//! needs in it. This module writes the data of a page as JSON into a static template; layout and
//! drawing are the template's scripts, in `explain/page`.
//!
//! A page shows what the compiler knows. A term has the place in the source that it has in the
//! compiler, or none; nothing is found by comparing text. A page must never change the generated
//! code, and a failure to write it must never fail a build.

mod facts;
mod json;

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use ad_ir::ir::Loc;
use ad_ir::positions::{Position, SourceText, SourceTokens, position};
use ad_ir::program::{Program, SourceLocation};
use ad_ir::sorted::SortedMap;
use ad_middle::pipeline::Log;
use ad_middle::pipeline::explained::{About, Explained, ExplainedStage, ShownRewrite, SourcePlace};

use facts::of_routine;
use json::Json;

/// The parts of the template.
const FRAME: &str = include_str!("explain/page/page.html");
const STYLE: &str = include_str!("explain/page/page.css");
const SCRIPTS: &[&str] = &[
    include_str!("explain/page/data.js"),
    include_str!("explain/page/links.js"),
    include_str!("explain/page/stages.js"),
    include_str!("explain/page/costs.js"),
    include_str!("explain/page/graph.js"),
    include_str!("explain/page/rules.js"),
    include_str!("explain/page/main.js"),
];

/// A page.
#[derive(Clone, Debug)]
pub struct Page {
    /// The name of its function.
    pub function: String,
    /// Its text.
    pub html: String,
    /// The file of the function and its line there, if they are known.
    pub place: Option<(String, usize)>,
}

/// Names the function of the stages that follow, for the log and for a page.
pub(crate) fn enter(log: &mut Log, subject: &str, program: &Program) {
    log.enter(subject);
    let Some(explained) = &mut log.explained else { return };
    if explained.sources.contains_key(subject) {
        return;
    }
    let place =
        |p: &SourceLocation| SourcePlace { position: position(p.range), text: p.text.clone(), of: p.of.clone() };
    let places = program.places.0.iter().map(place).collect();
    explained.sources.insert(subject.to_string(), places);
}

/// The page of a function, from what was recorded while it was compiled.
pub(crate) fn page(program: &Program, derivatives: &[String], source: &SourceTokens, explained: &Explained) -> Page {
    let source = source.text();
    let mut places = Places::new(source.as_ref());
    let sources = explained.sources.iter();
    let of_subjects: SortedMap<&str, Vec<Vec<usize>>> =
        sources.map(|(subject, all)| (&**subject, places.numbers(all))).collect();
    let number = |about: &About, loc: Loc| {
        let all = of_subjects.get(&*about.subject).and_then(|all| all.get(loc.index()));
        all.map_or_else(Vec::new, Clone::clone)
    };
    let stage = |stage: &ExplainedStage| of_stage(stage, &number);
    let rewrite = |rewrite: &ShownRewrite| of_rewrite(rewrite, &number);
    let name = program.name.to_string();
    let data = Json::Object(vec![
        ("name", name.as_str().into()),
        ("mode", program.mode.name().into()),
        ("derivatives", derivatives.iter().map(String::as_str).collect()),
        ("source", source.as_ref().map(of_source).into()),
        ("places", places.into_json()),
        ("stages", explained.stages.iter().map(stage).collect()),
        ("routines", explained.routines.iter().map(|routine| of_routine(routine, &number)).collect()),
        ("rewrites", explained.rewrites.iter().map(rewrite).collect()),
    ]);
    let html = filled(&name, &data);
    Page { function: name, html, place: source.map(|s| (s.position.file, s.position.start.0)) }
}

/// The template with this title and this data. Each part of the template occurs once in it.
fn filled(title: &str, data: &Json) -> String {
    let parts = [
        ("<!--title-->", title.to_string()),
        ("/*style*/", STYLE.to_string()),
        ("/*data*/", data.text()),
        ("/*scripts*/", SCRIPTS.join("\n")),
    ];
    let (mut html, mut rest) = (String::new(), FRAME);
    for (mark, text) in parts {
        let Some((before, after)) = rest.split_once(mark) else { continue };
        html.push_str(before);
        html.push_str(&text);
        rest = after;
    }
    html + rest
}

fn of_source(source: &SourceText) -> Json {
    Json::Object(vec![
        ("file", source.position.file.as_str().into()),
        ("line", source.position.start.0.into()),
        ("text", source.text.as_str().into()),
    ])
}

fn of_about(about: &About) -> [(&'static str, Json); 2] {
    [("subject", about.subject.as_str().into()), ("routine", about.routine.as_str().into())]
}

fn of_stage(stage: &ExplainedStage, number: &dyn Fn(&About, Loc) -> Vec<usize>) -> Json {
    let mark = |mark: &ad_ir::ir::marked::Mark| {
        let mut places: Vec<usize> =
            mark.terms.iter().filter_map(|t| stage.places.get(t)).flat_map(|&loc| number(&stage.about, loc)).collect();
        places.sort_unstable();
        places.dedup();
        let terms: Json = mark.terms.iter().map(|t| t.index()).collect();
        let [from, to] = mark.range;
        Json::List(vec![from.into(), to.into(), terms, places.into_iter().collect()])
    };
    let [subject, routine] = of_about(&stage.about);
    Json::Object(vec![
        subject,
        routine,
        ("name", stage.name.as_str().into()),
        ("text", stage.text.text.as_str().into()),
        ("marks", stage.text.marks.iter().map(mark).collect()),
    ])
}

fn of_rewrite(rewrite: &ShownRewrite, number: &dyn Fn(&About, Loc) -> Vec<usize>) -> Json {
    let [subject, routine] = of_about(&rewrite.about);
    Json::Object(vec![
        subject,
        routine,
        ("pass", rewrite.pass.into()),
        ("rule", rewrite.rule.into()),
        ("places", number(&rewrite.about, rewrite.place).into_iter().collect()),
        ("before", rewrite.before.as_str().into()),
        ("after", rewrite.after.as_str().into()),
        ("times", rewrite.times.into()),
    ])
}

/// The places of a page, each once.
struct Places<'s> {
    source: Option<&'s SourceText>,
    all: Vec<SourcePlace>,
    numbers: SortedMap<Position, usize>,
}

impl<'s> Places<'s> {
    fn new(source: Option<&'s SourceText>) -> Self {
        Places { source, all: Vec::new(), numbers: SortedMap::new() }
    }

    /// The numbers in the page of each place of a function. The first place is the function itself,
    /// which is no particular place.
    fn numbers(&mut self, all: &[SourcePlace]) -> Vec<Vec<usize>> {
        let mut numbers: Vec<Vec<usize>> = Vec::new();
        for (k, place) in all.iter().enumerate() {
            let mut own: Vec<usize> = match &place.of[..] {
                [] if k == 0 => Vec::new(),
                [] => vec![self.number(place)],
                of => of.iter().filter_map(|loc| numbers.get(loc.index())).flatten().copied().collect(),
            };
            own.sort_unstable();
            own.dedup();
            numbers.push(own);
        }
        numbers
    }

    fn number(&mut self, place: &SourcePlace) -> usize {
        let next = self.all.len();
        let number = match &place.position {
            Some(position) => *self.numbers.entry(position.clone()).or_insert(next),
            None => next,
        };
        if number == next {
            self.all.push(place.clone());
        }
        number
    }

    fn into_json(self) -> Json {
        let Places { source, all, .. } = self;
        let inside = |p: &Position| source.is_some_and(|s| s.position.file == p.file && s.position.contains(p));
        let one = |place: &SourcePlace| {
            let at = place.position.as_ref();
            let pair = |(line, column): (usize, usize)| Json::List(vec![line.into(), column.into()]);
            Json::Object(vec![
                ("text", place.text.as_str().into()),
                ("file", at.map(|p| p.file.as_str()).into()),
                ("from", at.map(|p| pair(p.start)).into()),
                ("to", at.map(|p| pair(p.end)).into()),
                ("inside", at.is_some_and(inside).into()),
            ])
        };
        all.iter().map(one).collect()
    }
}

/// The names of the pages that this process has written into a folder, with the place of the
/// function of each: two functions of one name get two pages.
static WRITTEN: Mutex<SortedMap<PathBuf, Option<(String, usize)>>> = Mutex::new(SortedMap::new());

/// Writes a page into a folder, and returns its file. A failure is no failure of the build.
pub(crate) fn write(folder: &Path, page: &Page) -> Option<PathBuf> {
    let stem = page.place.as_ref().and_then(|(file, _)| Path::new(file).file_stem()?.to_str().map(str::to_string));
    let first = stem.map_or_else(|| page.function.clone(), |stem| format!("{stem}.{}", page.function));
    let mut written = WRITTEN.lock().ok()?;
    let names = std::iter::once(first.clone()).chain((2..).map(|k| format!("{first}.{k}")));
    let mut files = names.map(|name| folder.join(format!("{name}.html")));
    let file = files.find(|file| written.get(file).is_none_or(|place| *place == page.place))?;
    std::fs::create_dir_all(folder).ok()?;
    std::fs::write(&file, &page.html).ok()?;
    written.insert(file.clone(), page.place.clone());
    Some(file)
}
