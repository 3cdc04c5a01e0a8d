//! Which rule files there are: shipped packs and files by pattern, read again at every change.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use sql::source::{Fault, Span};
use sql::yaml::Node;

use super::builtin::builtin_rules;
use super::reader::{self, Reader};
use crate::admin::wildcard;

/// The largest rule file, in bytes.
const FILE_MAX: u64 = 4 << 20;
/// The most files that one pattern may match.
const FILES_MAX: usize = 1_000;

/// Where rules come from, in order; a later rule replaces an earlier one of its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RuleFiles {
    sources: Vec<Source>,
}

/// One line of `rules.files`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Source {
    place: Place,
    file: String,
    span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    /// Shipped packs whose name without `.yaml` matches.
    Builtin(String),
    /// A file's path.
    File(PathBuf),
    /// A folder and a pattern of names in it.
    Pattern(PathBuf, String),
}

impl RuleFiles {
    /// All shipped packs and nothing else.
    pub(crate) fn builtin() -> Self {
        let every = Source { place: Place::Builtin("*".into()), file: String::new(), span: Span::START };
        Self { sources: vec![every] }
    }

    /// These and every `*.yaml` of a folder, whose rules replace earlier ones of their ids.
    pub(crate) fn and_folder(mut self, folder: &str) -> Self {
        let place = Place::Pattern(PathBuf::from(folder), "*.yaml".into());
        self.sources.push(Source { place, file: String::new(), span: Span::START });
        self
    }

    /// The files of this moment: name and text, each once, in order.
    ///
    /// # Errors
    /// A named file or folder that cannot be read, at its place in the configuration. A pattern that matches nothing
    /// is none.
    pub(crate) fn read(&self) -> Result<Vec<(String, String)>, Vec<Fault>> {
        let mut files: Vec<(String, String)> = Vec::new();
        let mut faults = Vec::new();
        for source in &self.sources {
            match source.read() {
                Ok(found) => files.extend(found),
                Err(message) => faults.push(Fault::new(source.file.as_str(), source.span, message)),
            }
        }
        let mut seen = BTreeSet::new();
        files.retain(|(name, _)| seen.insert(name.clone()));
        if faults.is_empty() { Ok(files) } else { Err(faults) }
    }

    /// The folders whose changes may change the rules.
    pub(crate) fn folders(&self) -> BTreeSet<PathBuf> {
        let folder = |source: &Source| match &source.place {
            Place::Builtin(_) => None,
            Place::File(path) => path.parent().map(Path::to_owned),
            Place::Pattern(folder, _) => Some(folder.clone()),
        };
        self.sources.iter().filter_map(folder).collect()
    }
}

impl Source {
    fn read(&self) -> Result<Vec<(String, String)>, String> {
        let file = |path: &Path| {
            let name = path.display().to_string();
            match reader::text(path, FILE_MAX) {
                Ok(text) => Ok((name, text)),
                Err(error) => Err(format!("{name} cannot be read: {error}")),
            }
        };
        match &self.place {
            Place::Builtin(pattern) => {
                let matching = |name: &str| {
                    let bare = name.trim_start_matches("builtin:");
                    wild(pattern, bare) || wild(pattern, bare.trim_end_matches(".yaml"))
                };
                Ok(builtin_rules().into_iter().filter(|(name, _)| matching(name)).collect())
            }
            Place::File(path) => Ok(vec![file(path)?]),
            Place::Pattern(folder, pattern) => {
                names(folder, pattern)?.iter().map(|name| file(&folder.join(name))).collect()
            }
        }
    }
}

fn names(folder: &Path, pattern: &str) -> Result<Vec<String>, String> {
    let failed = |error: std::io::Error| format!("the folder {} cannot be read: {error}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let Ok(name) = entry.map_err(failed)?.file_name().into_string() else { continue };
        // Editors' and Kubernetes' own files begin with a dot.
        if !name.starts_with('.') && wild(pattern, &name) && folder.join(&name).is_file() {
            names.push(name);
        }
    }
    if names.len() > FILES_MAX {
        return Err(format!("more than {FILES_MAX} files in {}", folder.display()));
    }
    names.sort();
    Ok(names)
}

pub(super) fn read(node: &Node, reader: &Reader<'_>) -> Option<RuleFiles> {
    let faults = reader.faults;
    let fields = node.fields("`rules`", faults)?;
    let list = fields.required("files");
    super::later::keys(&fields, &["cost_check"]);
    fields.finish();
    let mut sources = Vec::new();
    for item in list?.one_or_list("a file, a pattern or builtin:*", faults)? {
        let Some(text) = item.text("a file, a pattern or builtin:*", faults) else { continue };
        let Some(place) = place(item, text, reader) else { continue };
        sources.push(Source { place, file: faults.file().to_string(), span: item.span });
    }
    Some(RuleFiles { sources })
}

fn place(node: &Node, text: &str, reader: &Reader<'_>) -> Option<Place> {
    let faults = reader.faults;
    if let Some(pattern) = text.strip_prefix("builtin:") {
        let known = builtin_rules();
        let found =
            Source { place: Place::Builtin(pattern.to_owned()), file: String::new(), span: node.span };
        if pattern != "*" && found.read().is_ok_and(|found| found.is_empty()) {
            let names: Vec<&str> = known.iter().map(|(name, _)| name.trim_end_matches(".yaml")).collect();
            faults.add(
                node.span,
                format!("no shipped rules are called `{text}`; there are {}", names.join(", ")),
            );
            return None;
        }
        return Some(found.place);
    }
    let path = reader.resolve(text);
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if text.is_empty() || name.is_empty() {
        faults.add(node.span, format!("expected a file, a pattern or builtin:*, found {}", node.describe()));
        return None;
    }
    if folder.to_string_lossy().contains(['*', '?']) {
        faults.add(node.span, "`*` and `?` stand for characters of a file's name, not of a folder's");
        return None;
    }
    if !name.contains(['*', '?']) {
        return reader.file(node, "a file").map(Place::File);
    }
    if !folder.is_dir() {
        faults.add(node.span, format!("there is no folder {}", folder.display()));
        return None;
    }
    Some(Place::Pattern(folder.to_owned(), name.to_owned()))
}

/// `*` is any number of bytes, `?` one.
fn wild(pattern: &str, name: &str) -> bool {
    wildcard(pattern.as_bytes(), name.as_bytes(), b'*', b'?')
}

#[cfg(test)]
mod tests;
