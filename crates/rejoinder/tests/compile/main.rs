//! What compiles and what does not, and what the compiler says first.
//!
//! A program in `fail` begins with its first error, `// line:column: sentence`. Only that is compared: what the compiler
//! writes around it differs between its versions. `REJOINDER_BLESS=1` writes the errors as they are; read the diff. Where the
//! next line is `// errors: N`, there must be at most that many: a mistake is not repeated wherever it is used.

use std::{
    env,
    ffi::OsStr,
    fs,
    io::{BufRead, Write},
    path::{Path, PathBuf},
    process::Command,
    sync::Mutex,
    thread,
};

use serde_json::Value;

#[test]
fn programs_that_are_right_compile_and_run() {
    let compiler = Compiler::new();
    let wrong = for_each(&programs("pass"), |program| {
        let binary = Path::new(env!("CARGO_TARGET_TMPDIR")).join(program.file_stem().expect("it is a file"));
        if let Some(error) = compiler.errors(program, &["--emit=link", "-o", &binary.to_string_lossy()]).first() {
            return Err(format!("does not compile: {error}"));
        }
        let run = Command::new(&binary).output().expect("it can be run");
        run.status.success().then_some(()).ok_or_else(|| String::from_utf8_lossy(&run.stderr).into_owned())
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_first_error_says_what_is_wrong_and_where() {
    let compiler = Compiler::new();
    let bless = env::var_os("REJOINDER_BLESS").is_some();
    let metadata = Path::new(env!("CARGO_TARGET_TMPDIR")).join("metadata");
    fs::create_dir_all(&metadata).expect("the directory can be made");
    let wrong = for_each(&programs("fail"), |program| {
        let flags = ["--emit=metadata", "--out-dir", &metadata.to_string_lossy()];
        let errors = compiler.errors(program, &flags);
        let found = errors.first().map_or("compiles", String::as_str);
        let text = fs::read_to_string(program).expect("it can be read");
        let (first, rest) = text.split_once('\n').unwrap_or_default();
        let expected = first.strip_prefix("// ").unwrap_or_default();
        let most = rest.lines().next().and_then(|line| line.strip_prefix("// errors: ")?.parse().ok());
        if most.is_some_and(|most| errors.len() > most) {
            return Err(format!("it has more errors:\n   {}", errors.join("\n   ")));
        }
        if expected == found {
            return Ok(());
        }
        if bless {
            let mut file = fs::File::create(program).expect("it can be written");
            write!(file, "// {found}\n{rest}").expect("it can be written");
        }
        Err(format!("expected {expected}\n   found {found}"))
    });
    assert!(wrong.is_empty(), "{} first errors differ\n{}", wrong.len(), wrong.join("\n"));
}

/// The programs in that directory, and in those below it.
fn programs(directory: impl AsRef<Path>) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compile").join(directory);
    let entries = fs::read_dir(directory).expect("the directory exists");
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.expect("it can be read").path())
        .flat_map(|path| if path.is_dir() { programs(&path) } else { vec![path] })
        .collect();
    found.sort();
    found
}

/// Runs a check for each program, as many in parallel as there are processors. Returns what is wrong.
fn for_each(programs: &[PathBuf], check: impl Fn(&Path) -> Result<(), String> + Sync) -> Vec<String> {
    let (left, wrong) = (Mutex::new(programs.iter()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let Some(program) = left.lock().expect("no check panics").next() else { break };
                    if let Err(error) = check(program) {
                        let shown = program.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap_or(program);
                        wrong.lock().expect("no check panics").push(format!("{}\n{error}", shown.display()));
                    }
                }
            });
        }
    });
    wrong.into_inner().expect("no check panics")
}

/// The compiler, with the libraries that this test was built with.
struct Compiler {
    externs: Vec<String>,
    dependencies: PathBuf,
}

impl Compiler {
    fn new() -> Self {
        const LIBRARIES: [&str; 6] = ["rejoinder", "rejoinder_neighbour", "schemars", "serde", "serde_json", "tokio"];
        // What cargo was called for decides the features of all dependencies. Only a call for the workspace turns this one on;
        // with the other call everything would be built a second time.
        let packages = if cfg!(feature = "auth") { "--workspace" } else { "--package=rejoinder" };
        let built = Command::new(env!("CARGO"))
            .args(["test", "--no-run", "--locked", "--offline", "--message-format=json", packages, "--test=compile"])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .expect("cargo can be run");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let messages = built.stdout.lines().map(|line| line.expect("it is text"));
        let artifacts: Vec<Value> = messages.filter_map(|line| serde_json::from_str(&line).ok()).collect();
        let rlib_of = |name: &str| {
            let artifact = artifacts.iter().find(|message| message["target"]["name"] == name)?;
            let mut files = artifact["filenames"].as_array()?.iter().filter_map(Value::as_str);
            files.find(|file| file.ends_with(".rlib")).map(str::to_owned)
        };
        let libraries = LIBRARIES.map(|name| (name, rlib_of(name).unwrap_or_else(|| panic!("`{name}` was built"))));
        let [.., (_, tokio)] = &libraries;
        let dependencies = Path::new(tokio).parent().expect("it is in a directory").to_owned();
        Self { externs: libraries.map(|(name, rlib)| format!("{name}={rlib}")).into(), dependencies }
    }

    /// The errors of a program, each `line:column: sentence`.
    ///
    /// It is compiled in its directory: the compiler shortens types that contain a long path.
    fn errors(&self, program: &Path, flags: &[&str]) -> Vec<String> {
        let name = program.file_name().and_then(OsStr::to_str).expect("it is text");
        let compiled = Command::new("rustc")
            .args(["--edition=2024", "--crate-type=bin", "--error-format=json", "-Cdebuginfo=0"])
            .args(flags)
            .args(self.externs.iter().flat_map(|library| ["--extern", library]))
            .arg(format!("-Ldependency={}", self.dependencies.display()))
            .arg(name)
            .current_dir(program.parent().expect("it is in a directory"))
            .output()
            .expect("rustc can be run");
        let messages = compiled.stderr.lines().map(|line| line.expect("it is text"));
        let messages = messages.filter_map(|line| serde_json::from_str::<Value>(&line).ok());
        let errors = messages.filter(|message| message["level"] == "error");
        errors.filter_map(|error| shown(&error, name)).collect()
    }
}

/// An error with its place in the program; the last one, which only counts the others, has none.
fn shown(error: &Value, program: &str) -> Option<String> {
    let mut spans = error["spans"].as_array()?.iter();
    let mut span = spans.find(|span| span["is_primary"] == true)?;
    while span["file_name"].as_str()? != program {
        span = &span["expansion"]["span"];
    }
    let message = error["message"].as_str()?;
    let sentence = message.strip_prefix("evaluation panicked: ").unwrap_or(message);
    Some(format!("{}:{}: {sentence}", span["line_start"], span["column_start"]))
}
