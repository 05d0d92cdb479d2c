//! A tool whose calls take long: it renders a video on a farm, asks its user in between, and goes on after the process dies.
//!
//! The README of the repository has a few lines of shell that kill this program and start it again.

use std::{
    fmt::Write as _,
    fs::{self, OpenOptions},
    io::Write as _,
    path::PathBuf,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use rejoinder::{prelude::*, tasks::Tasks};
use rejoinder_sqlite::SqliteTasks;

/// A farm of machines that renders videos.
///
/// It stands for a service elsewhere: what it knows is in a file, and outlives this process. Each line is something that it did.
struct Farm {
    log: PathBuf,
    /// How long it takes to render a video.
    takes: Duration,
}

impl Farm {
    /// Begins a job, and returns its number. A key that the farm has seen is a job that it has.
    async fn submit(&self, project: &str, quality: &Quality, key: String) -> Result<u64, CallError> {
        let known = self.submitted()?.iter().position(|line| line.contains(&key));
        if let Some(job) = known {
            return Ok(job as u64);
        }
        let job = self.submitted()?.len();
        self.write(&format!("submit job {job}: {project} in {}, key {key}", quality.resolution.name()))?;
        Ok(job as u64)
    }

    /// Whether a font of the project is missing.
    async fn lacks_font(&self, job: u64) -> Result<bool, CallError> {
        self.write(&format!("look at the fonts of job {job}"))?;
        Ok(true)
    }

    async fn replace_font(&self, job: u64, name: &str) -> Result<(), CallError> {
        self.write(&format!("replace the font of job {job} by {name}"))
    }

    /// How far it is; `None` when it is done.
    async fn percent(&self, job: u64) -> Result<Option<u64>, CallError> {
        let submitted = self.submitted()?;
        let line = submitted.get(usize::try_from(job).unwrap_or(usize::MAX)).ok_or("there is no such job")?;
        let began = line.split_once(' ').and_then(|(time, _)| time.parse().ok()).unwrap_or(0);
        let (since, takes) = (u128::from(now().saturating_sub(began)), self.takes.as_millis());
        Ok((since < takes).then(|| u64::try_from(since * 100 / takes).unwrap_or(100)))
    }

    fn url(&self, job: u64) -> String {
        format!("https://farm.example/{job}.mp4")
    }

    fn submitted(&self) -> Result<Vec<String>, CallError> {
        let log = if self.log.exists() { fs::read_to_string(&self.log)? } else { String::new() };
        Ok(log.lines().filter(|line| line.contains(" submit job ")).map(str::to_owned).collect())
    }

    fn write(&self, what: &str) -> Result<(), CallError> {
        let mut line = String::new();
        let _ = writeln!(line, "{} {what}", now());
        OpenOptions::new().create(true).append(true).open(&self.log)?.write_all(line.as_bytes())?;
        Ok(())
    }
}

/// Milliseconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[derive(Elicit)]
struct Quality {
    #[elicit(title = "Resolution", default = Resolution::Hd)]
    resolution: Resolution,
}

#[derive(Clone, Copy, ElicitEnum)]
#[elicit(rename_all = "kebab-case")]
enum Resolution {
    Hd,
    #[elicit(title = "4K")]
    FourK,
}

impl Resolution {
    fn name(self) -> &'static str {
        match self {
            Self::Hd => "HD",
            Self::FourK => "4K",
        }
    }
}

#[derive(Elicit)]
struct Font {
    #[elicit(min_length = 1, max_length = 60)]
    name: String,
}

/// Asked before there is a task.
#[resolver]
fn quality(project: &str) -> Ask<Quality> {
    Ask::user(format!("How is {project} to be rendered?"))
}

/// Render a video.
#[tool(task(required, ttl = "2h", poll = "1s"))]
async fn render(
    project: String,
    #[resolve(quality)] quality: &Quality,
    farm: Dep<Farm>,
    ctx: Context,
) -> Result<String, CallError> {
    let job: u64 = ctx.once("submit", || farm.submit(&project, quality, ctx.idempotency_key("submit"))).await?;
    // What decides the path is a step: after a death the function takes the same path again.
    if ctx.once("lacks font", || farm.lacks_font(job)).await? {
        // Parks. When the answer comes, any process goes on.
        let Font { name } = ctx.ask("font", Ask::user("A font is missing. Which one instead?")).await?;
        ctx.once("replace font", || farm.replace_font(job, &name)).await?;
    }
    // Looks and waits are steps too, so that a later run does not wait anew, and so that there is progress: a task fails whose
    // processes die three times without any.
    let mut looks = 1;
    while let Some(percent) = ctx.once(format!("look {looks}"), || farm.percent(job)).await? {
        ctx.status(format!("{percent} % of {project}")).await;
        ctx.sleep(format!("wait {looks}"), Duration::from_secs(1)).await?; // an hour would park
        looks += 1;
    }
    Ok(farm.url(job))
}

fn server(farm: Farm) -> Server {
    Server::new("studio", "1.0.0").provide(farm).tools(tools![render])
}

#[tokio::main]
async fn main() -> rejoinder::Result<()> {
    let farm = Farm { log: "farm.log".into(), takes: Duration::from_secs(20) };
    // Without this, tasks are kept in memory, and end with this process.
    let tasks = Tasks::new(SqliteTasks::at("tasks.db"));
    server(farm).tasks(tasks).serve_from_args().await
}

#[cfg(test)]
mod tests {
    use rejoinder::{
        model::TaskStatus,
        testing::{Client, Cut},
    };
    use serde_json::json;

    use super::*;

    /// A client of a studio whose farm writes to this file, which is new.
    fn client(test: &str) -> (Client, PathBuf) {
        let log = std::env::temp_dir().join(format!("video-render-{test}-{}.log", std::process::id()));
        let _ = fs::remove_file(&log);
        let farm = Farm { log: log.clone(), takes: Duration::from_millis(50) };
        let client = Client::new(server(farm));
        (client.tasks().answer("quality", Quality { resolution: Resolution::FourK }), log)
    }

    /// What the farm did, without times and keys.
    fn done(log: &PathBuf) -> Vec<String> {
        let text = fs::read_to_string(log).unwrap_or_default();
        let _ = fs::remove_file(log);
        let what = |line: &str| line.split_once(' ').map(|(_, what)| what.to_owned());
        let without_key = |what: String| what.split(", key").next().unwrap_or_default().to_owned();
        text.lines().filter_map(what).map(without_key).collect()
    }

    const ALL: [&str; 3] =
        ["submit job 0: intro in 4K", "look at the fonts of job 0", "replace the font of job 0 by Inter"];

    #[tokio::test]
    async fn the_user_is_asked_before_the_task_and_in_it_and_each_step_happens_once() {
        let (client, log) = client("whole");
        let client = client.answer("font", Font { name: "Inter".into() });
        let reply = client.call_tool("render", json!({ "project": "intro" })).await.expect("a reply");
        assert_eq!(reply.text(), "https://farm.example/0.mp4");
        assert_eq!(reply.asked, [["quality"], ["font"]]);
        assert_eq!(done(&log), ALL);
    }

    #[tokio::test]
    async fn the_farm_does_everything_once_although_the_process_dies() {
        let lease = Duration::from_secs(12);
        for cut in [Cut::BeforeRecord, Cut::AfterRecord] {
            let (client, log) = client("dies");
            let client = client.kill_at("submit", cut).kill_at("font", cut);
            let task = client.start_task("render", json!({ "project": "intro" })).await.expect("a task");
            client.advance(lease).await;
            client.advance(lease).await;
            task.until_asked("font").await.expect("it asks");
            task.answer("font", Font { name: "Inter".into() }).await.expect("it is taken");
            assert_eq!(task.finish().await.expect("an end").text(), "https://farm.example/0.mp4");
            assert_eq!(done(&log), ALL, "{cut}");
        }
    }

    #[tokio::test]
    async fn a_task_waits_for_its_user_and_says_how_far_it_is() {
        let (client, log) = client("waits");
        let task = client.start_task("render", json!({ "project": "intro" })).await.expect("a task");
        task.until_asked("font").await.expect("it asks");
        assert_eq!(task.show().await.expect("the task").status, TaskStatus::InputRequired);
        assert_eq!(done(&log), ALL[..2]);
        // The log of the farm is gone, as if it had never heard of the job: an error that the model reads.
        task.answer("font", Font { name: "Inter".into() }).await.expect("it is taken");
        let reply = task.finish().await.expect("an end");
        assert!(reply.is_error() && reply.text() == "there is no such job", "{}", reply.text());
        assert_eq!(task.steps(), ["submit", "lacks font", "replace font"], "a look that failed is no step");
        assert_eq!(done(&log), ALL[2..]);
    }

    #[tokio::test]
    async fn a_declined_quality_makes_no_task_and_other_clients_cannot_render() {
        let (client, log) = client("declined");
        let declined = client.clone().decline("quality").call_tool("render", json!({ "project": "intro" })).await;
        assert_eq!(declined.expect("a reply").text(), "the user declined `quality`");
        let others = Client::new(client.server().clone());
        let refused = others.call_tool("render", json!({ "project": "intro" })).await.expect_err("it needs a task");
        assert_eq!(refused.code(), Some(-32021));
        assert!(done(&log).is_empty());
    }

    #[tokio::test]
    async fn the_farm_knows_a_key_that_it_has_seen() {
        let (client, log) = client("key");
        let farm = client.dependency::<Farm>();
        let quality = Quality { resolution: Resolution::Hd };
        for (key, job) in [("one", 0), ("two", 1), ("one", 0)] {
            assert_eq!(farm.submit("intro", &quality, key.into()).await.expect("a job"), job);
        }
        assert_eq!(done(&log).len(), 2);
    }
}
