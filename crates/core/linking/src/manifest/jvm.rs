//! Reads Maven, Gradle and .NET projects. These functions only search the text for a few elements. They do
//! not parse the whole file.

use super::declared::Declared;

pub(super) fn pom(text: &str) -> Declared {
    let mut declared = Declared::default();
    let mut own = text.to_owned();
    for section in ["dependencyManagement", "build", "profiles", "reporting"] {
        cut(&mut own, section);
    }
    for dependency in elements(&own, "dependency") {
        declared.dependencies.extend(coordinates(dependency, None));
    }
    cut(&mut own, "dependencies");
    let parent_group =
        elements(&own, "parent").next().and_then(|parent| elements(parent, "groupId").next()).map(str::to_owned);
    cut(&mut own, "parent");
    declared.name = coordinates(&own, parent_group.as_deref());
    declared
}

/// Returns `group:artifact`.
fn coordinates(text: &str, default_group: Option<&str>) -> Option<String> {
    let artifact = elements(text, "artifactId").next()?.trim();
    let group = elements(text, "groupId").next().or(default_group)?.trim();
    Some(format!("{group}:{artifact}"))
}

/// The contents of each element that has this name and no attributes.
fn elements<'t>(text: &'t str, name: &str) -> impl Iterator<Item = &'t str> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let mut rest = text;
    std::iter::from_fn(move || {
        let start = rest.find(&open)? + open.len();
        let end = start + rest[start..].find(&close)?;
        let content = &rest[start..end];
        rest = &rest[end + close.len()..];
        Some(content)
    })
}

/// Removes all elements with this name from the text.
fn cut(text: &mut String, name: &str) {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    while let Some(start) = text.find(&open) {
        let end = text[start..].find(&close).map_or(text.len(), |end| start + end + close.len());
        text.replace_range(start..end, "");
    }
}

const CONFIGURATIONS: &[&str] = &[
    "implementation",
    "api",
    "compileOnly",
    "runtimeOnly",
    "testImplementation",
    "testRuntimeOnly",
    "annotationProcessor",
    "kapt",
    "compile",
];

/// Reads dependencies in the form `configuration("group:artifact:version")`.
pub(super) fn gradle(text: &str) -> Declared {
    let mut declared = Declared::default();
    for line in text.lines() {
        let line = line.trim();
        let end = line.find(|character: char| !character.is_alphanumeric()).unwrap_or(line.len());
        if !CONFIGURATIONS.contains(&&line[..end]) {
            continue;
        }
        let mut quoted = line[end..].split(['"', '\'']);
        let mut parts = quoted.nth(1).unwrap_or_default().split(':');
        if let (Some(group), Some(artifact)) = (parts.next(), parts.next()) {
            declared.dependencies.push(format!("{group}:{artifact}"));
        }
    }
    declared
}

pub(super) fn csproj(text: &str) -> Declared {
    let references = text.split("<PackageReference").skip(1).filter_map(|rest| {
        let element = rest.split('>').next()?;
        element.split("Include=\"").nth(1)?.split('"').next().map(str::to_owned)
    });
    Declared { dependencies: references.collect(), ..Declared::default() }
}
