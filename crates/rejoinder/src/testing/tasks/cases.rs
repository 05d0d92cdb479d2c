//! What a store does, case by case.

use futures_util::future::{join, join_all};

use super::{ADA, BOB, MINUTE, StoreCheck, asking, claimant, new_task};
use crate::tasks::{
    BirthError, Claim,
    ClaimState::{Held, Lost},
    Claimant, ClaimedTask, NewTask, Parking, TaskEnd, TaskId, TaskPlaces, TaskState, TaskStore, WorkerId,
};

/// Runs all cases, each on a store of its own.
pub(super) async fn all<S: TaskStore>(open: &impl AsyncFn() -> StoreCheck<S>) {
    what_is_acknowledged_is_read(open().await).await;
    a_birth_is_repeated(open().await).await;
    places_are_limited(open().await).await;
    owners_are_apart(open().await).await;
    a_run_begins_with_what_was_kept(open().await).await;
    steps_are_recorded_once(open().await).await;
    the_first_answer_counts(open().await).await;
    an_answer_during_a_run_is_not_lost(open().await).await;
    a_key_is_used_once(open().await).await;
    a_task_sleeps(open().await).await;
    a_task_ends_once(open().await).await;
    a_lost_claim_writes_nothing(open().await).await;
    a_worker_that_is_gone_claims_nothing(open().await).await;
    a_dead_worker_is_buried(open().await).await;
    deaths_are_counted(open().await).await;
    what_is_given_back_is_due_again(open().await).await;
    times_are_up(open().await).await;
    claims_are_shared(open().await).await;
    races_have_one_winner(open().await).await;
}

async fn what_is_acknowledged_is_read<S: TaskStore>(check: StoreCheck<S>) {
    let task = new_task(ADA);
    let before = check.store.clock().now();
    let created = check.create(&task).await;
    assert_eq!(check.get(task.id).await.as_ref(), Some(&created), "a new task is read");
    assert_eq!((created.ttl, created.poll), (task.ttl, task.poll), "a task keeps its times");
    let age = created.created.duration_since(before).unwrap_or_default();
    assert!(age < MINUTE, "a task is created now");
    assert!(created.waits_since.is_some(), "a new task waits for its run");
    let claim = check.claim().await.expect("a new task is due").claim;
    assert_eq!(check.get(task.id).await.expect("it is there").waits_since, None, "a task that runs does not wait");
    assert_eq!(check.store.message(&claim, &"halfway".into()).await.expect("it can be written"), Held);
    assert_eq!(check.get(task.id).await.expect("it is there").message, Some("halfway".into()), "a message is read");
    assert_eq!(check.park(&claim, &asking(&["a", "b"])).await, Held);
    assert_eq!(check.open_keys(task.id).await, ["a".into(), "b".into()], "questions are read in their order");
    check.answer(task.id, "a", "1").await;
    assert_eq!(check.open_keys(task.id).await, ["b".into()], "an answer is read");
    assert_eq!(check.store.cancel(&ADA, &task.id).await.expect("it can be cancelled"), Some(true));
    assert_eq!(check.state(task.id).await, TaskState::Ended(TaskEnd::Cancelled), "a cancel is read");
}

async fn a_birth_is_repeated<S: TaskStore>(check: StoreCheck<S>) {
    let task = NewTask { origin: Some("a state".into()), ..new_task(ADA) };
    let created = check.create(&task).await;
    assert_eq!(check.create(&task).await, created, "the same id gives the same task");
    let again = NewTask { id: TaskId::new(), ..task.clone() };
    let repeated = check.store.create(&again, Some(&claimant(check.worker))).await.expect("it is there");
    assert_eq!(repeated.snapshot, created, "the same origin gives the same task");
    assert!(repeated.claimed.is_none(), "a task that was there is not claimed at its creation");
    let others = NewTask { owner: BOB, ..again };
    assert_ne!(check.create(&others).await.id, created.id, "another owner has other origins");
    check.store.cancel(&ADA, &task.id).await.expect("it can be cancelled");
    let again = NewTask { id: TaskId::new(), ..task };
    assert_eq!(check.create(&again).await.id, created.id, "the origin of an ended task still counts");
    for _ in 0..2 {
        check.create(&new_task(ADA)).await;
    }
    assert_eq!(check.claim_as(check.worker, 10).await.len(), 3, "tasks without an origin are all different");
}

async fn places_are_limited<S: TaskStore>(check: StoreCheck<S>) {
    let most = TaskPlaces { in_all: 3, of_owner: 2 };
    let task = |owner| NewTask { most, ..new_task(owner) };
    let first = task(ADA);
    check.create(&first).await;
    check.create(&task(ADA)).await;
    let full = check.store.create(&task(ADA), None).await;
    assert!(matches!(full, Err(BirthError::CallerFull)), "an owner has a limit");
    check.create(&task(BOB)).await;
    let full = check.store.create(&task(BOB), None).await;
    assert!(matches!(full, Err(BirthError::Full)), "there is a limit in all");
    check.create(&first).await;
    check.store.cancel(&ADA, &first.id).await.expect("it can be cancelled");
    check.create(&task(ADA)).await;
    check.advance(101);
    check.store.sweep().await.expect("it can be swept");
    for owner in [ADA, ADA, BOB] {
        check.create(&task(owner)).await;
    }
}

async fn owners_are_apart<S: TaskStore>(check: StoreCheck<S>) {
    let task = new_task(ADA);
    let (id, store) = (task.id, &check.store);
    check.create(&task).await;
    let unknown = TaskId::new();
    for (owner, id) in [(BOB, id), (ADA, unknown)] {
        assert_eq!(store.get(&owner, &id).await.expect("it answers"), None, "only the owner reads a task");
        let answered = store.answer(&owner, &id, &[("a".into(), "1".into())], None).await.expect("it answers");
        assert!(answered.is_none(), "only the owner answers");
        assert_eq!(store.cancel(&owner, &id).await.expect("it answers"), None, "only the owner cancels");
    }
    assert_eq!(check.state(id).await, TaskState::Open(Vec::new()));
}

async fn a_run_begins_with_what_was_kept<S: TaskStore>(check: StoreCheck<S>) {
    let begun = check.begin().await;
    let run = &begun.run;
    assert_eq!((&*run.tool, run.owner, &run.call[..]), ("render", ADA, &b"the call"[..]));
    assert_eq!((&run.record[..], run.steps.len(), run.questions.len()), (&b"the birth"[..], 0, 0));
    let keys = ["z", "a", "m", "\u{0}", ""];
    for key in keys {
        assert_eq!(check.record(&begun.claim, key).await, Held);
    }
    check.store.release(&begun.claim, std::time::Duration::ZERO).await.expect("it can be released");
    let again = check.claim().await.expect("it is due");
    assert!(again.claim.epoch > begun.claim.epoch, "each claim has a later epoch");
    let found: Vec<_> = again.run.steps.iter().map(|(key, _)| &**key).collect();
    assert_eq!(found, keys, "steps come in the order in which they were recorded");
    assert_eq!(again.run.steps[0].1, "step z");
    let asked = asking(&["y", "b"]);
    assert_eq!(check.park(&again.claim, &asked).await, Held);
    assert!(check.claim().await.is_none(), "a task that waits for answers is not due");
    check.answer(begun.run.id, "b", "1").await;
    assert!(check.claim().await.is_none(), "a task waits for all answers");
    check.answer(begun.run.id, "y", "2").await;
    let last = check.claim().await.expect("a task goes on with its last answer").run;
    assert_eq!(
        (&last.record[..], last.steps.len()),
        (&b"asked"[..], 0),
        "the steps are in the record of a parked task"
    );
    let answers =
        last.questions.iter().map(|question| (&*question.key, question.answer.as_deref(), question.is_closed));
    let expected = [("y", Some(&b"2"[..]), false), ("b", Some(&b"1"[..]), false)];
    assert_eq!(answers.collect::<Vec<_>>(), expected, "questions come in the order in which they were asked");
    assert_eq!((&*last.questions[0].name, &last.questions[0].request[..]), ("name", &b"y?"[..]));
}

async fn steps_are_recorded_once<S: TaskStore>(check: StoreCheck<S>) {
    let claim = check.begin().await.claim;
    for _ in 0..2 {
        assert_eq!(check.record(&claim, "a").await, Held, "a repeated step is there");
    }
    let other = check.store.record(&claim, "a", &"other".into()).await;
    assert!(other.is_err(), "a step is not replaced");
    check.store.release(&claim, std::time::Duration::ZERO).await.expect("it can be released");
    let run = check.claim().await.expect("it is due").run;
    assert_eq!(run.steps, [("a".into(), "step a".into())]);
}

async fn the_first_answer_counts<S: TaskStore>(check: StoreCheck<S>) {
    let ClaimedTask { claim, run } = check.begin().await;
    assert_eq!(check.park(&claim, &asking(&["a", "b"])).await, Held);
    let answers = [("a".into(), "1".into()), ("a".into(), "2".into()), ("unknown".into(), "3".into())];
    let claimed = Some(&claimant(check.worker));
    let answered =
        check.store.answer(&ADA, &run.id, &answers, claimed).await.expect("it answers").expect("it is there");
    assert!(answered.is_changed && answered.claimed.is_none(), "one is still open");
    assert!(!check.answer(run.id, "a", "4").await, "a second answer does not count");
    let other = Claimant { tools: vec!["other".into()], ..claimant(check.worker) };
    let last = [("b".into(), "5".into())];
    let answered =
        check.store.answer(&ADA, &run.id, &last, Some(&other)).await.expect("it answers").expect("it is there");
    assert!(answered.is_changed && answered.claimed.is_none(), "the worker does not have the tool");
    assert!(!check.answer(run.id, "b", "6").await);
    let run = check.claim().await.expect("it is due").run;
    let answers: Vec<_> = run.questions.iter().filter_map(|question| question.answer.as_deref()).collect();
    assert_eq!(answers, [b"1", b"5"]);
}

async fn an_answer_during_a_run_is_not_lost<S: TaskStore>(check: StoreCheck<S>) {
    let wakes = |check: &StoreCheck<S>| Some(check.store.clock().now() + 5 * MINUTE);
    let ClaimedTask { claim, run } = check.begin().await;
    let parking = Parking { wakes: wakes(&check), ..asking(&["a"]) };
    assert_eq!(check.park(&claim, &parking).await, Held);
    check.advance(6);
    let woken = check.claim().await.expect("a task wakes at its time, with a question open");
    let answers = [("a".into(), "1".into())];
    let answered = check.store.answer(&ADA, &run.id, &answers, Some(&claimant(check.worker))).await;
    let answered = answered.expect("it answers").expect("it is there");
    assert!(answered.is_changed && answered.claimed.is_none(), "a task that runs is not claimed again");
    let asleep = Parking { record: "asleep".into(), wakes: wakes(&check), ..Parking::default() };
    assert_eq!(check.park(&woken.claim, &asleep).await, Held);
    let claimed = check.claim().await.expect("an answer that came during the run is seen by the next one");
    let done = Parking { closed: vec!["a".into()], wakes: wakes(&check), ..Parking::default() };
    assert_eq!(check.park(&claimed.claim, &done).await, Held);
    assert!(check.claim().await.is_none(), "a closed question wakes nobody");
    check.advance(6);
    let run = check.claim().await.expect("it wakes at its time").run;
    assert!(run.questions[0].is_closed, "a question stays closed");
    assert_eq!(run.questions[0].answer, Some("1".into()), "a closed question keeps its answer");
}

async fn a_key_is_used_once<S: TaskStore>(check: StoreCheck<S>) {
    let claim = check.begin().await.claim;
    let twice = check.store.park(&claim, &asking(&["a", "a"])).await;
    assert!(twice.is_err(), "a key is used once in a parking");
    assert_eq!(check.open_keys(claim.id).await.len(), 0, "an error changes nothing");
    assert_eq!(check.park(&claim, &asking(&["a"])).await, Held, "an error does not take the claim");
    check.answer(claim.id, "a", "1").await;
    let claim = check.claim().await.expect("it is due").claim;
    let parking = Parking { closed: vec!["a".into()], record: "closed".into(), ..Parking::default() };
    assert_eq!(check.park(&claim, &parking).await, Held);
    let claim = check.claim().await.expect("nothing is open").claim;
    let again = check.store.park(&claim, &asking(&["b", "a"])).await;
    assert!(again.is_err(), "a key of an earlier question is not used again");
    assert_eq!(check.open_keys(claim.id).await.len(), 0, "an error changes nothing");
    let other = check.begin().await.claim;
    assert_eq!(check.park(&other, &asking(&["a"])).await, Held, "another task has other keys");
}

async fn a_task_sleeps<S: TaskStore>(check: StoreCheck<S>) {
    let claim = check.begin().await.claim;
    let wakes = Some(check.store.clock().now() + 10 * MINUTE);
    let asleep = Parking { record: "asleep".into(), wakes, ..Parking::default() };
    assert_eq!(check.park(&claim, &asleep).await, Held);
    check.advance(5);
    assert!(check.claim().await.is_none(), "it sleeps");
    assert_eq!(check.get(claim.id).await.expect("it is there").waits_since, None, "who sleeps does not wait");
    check.advance(6);
    assert!(check.get(claim.id).await.expect("it is there").waits_since.is_some(), "it could run since its time");
    let claim = check.claim().await.expect("it wakes").claim;
    let checkpoint = Parking { record: "checkpoint".into(), ..Parking::default() };
    assert_eq!(check.park(&claim, &checkpoint).await, Held);
    assert_eq!(check.claim().await.expect("it waits for nothing").run.record, "checkpoint");
}

async fn a_task_ends_once<S: TaskStore>(check: StoreCheck<S>) {
    let claim = check.begin().await.claim;
    assert_eq!(check.record(&claim, "a").await, Held);
    let [end, other] = ["a result", "another"].map(|result| TaskEnd::Completed(result.into()));
    let finish = async |end| check.store.finish(&claim, end).await.expect("it answers");
    assert_eq!(finish(&end).await, Held);
    assert_eq!(finish(&end).await, Held, "the repetition of an end is there");
    assert_eq!(finish(&other).await, Lost, "the first end counts");
    assert_eq!(check.store.cancel(&ADA, &claim.id).await.expect("it answers"), Some(false), "the first end counts");
    assert_eq!(check.state(claim.id).await, TaskState::Ended(end));
    assert!(!check.answer(claim.id, "a", "1").await, "an ended task takes no answers");
    let cancelled = check.begin().await.claim;
    assert_eq!(check.store.cancel(&ADA, &cancelled.id).await.expect("it answers"), Some(true));
    assert_eq!(check.store.finish(&cancelled, &other).await.expect("it answers"), Lost, "the cancel was first");
    assert_eq!(check.state(cancelled.id).await, TaskState::Ended(TaskEnd::Cancelled));
    check.advance(20);
    assert!(check.claim().await.is_none(), "an ended task is not due");
    let failed = check.begin().await.claim;
    let end = TaskEnd::Failed("an error".into());
    assert_eq!(check.store.finish(&failed, &end).await.expect("it answers"), Held);
    assert_eq!(check.state(failed.id).await, TaskState::Ended(end));
}

/// Every write of a claim that is lost.
async fn writes_are_refused<S: TaskStore>(check: &StoreCheck<S>, claim: &Claim, why: &str) {
    let store = &check.store;
    let before = check.get(claim.id).await;
    assert_eq!(store.record(claim, "stale", &"1".into()).await.expect("it answers"), Lost, "record, {why}");
    assert_eq!(store.message(claim, &"stale".into()).await.expect("it answers"), Lost, "message, {why}");
    let parking = Parking { record: "stale".into(), ..asking(&["stale"]) };
    assert_eq!(store.park(claim, &parking).await.expect("it answers"), Lost, "park, {why}");
    let end = TaskEnd::Completed("stale".into());
    assert_eq!(store.finish(claim, &end).await.expect("it answers"), Lost, "finish, {why}");
    store.release(claim, std::time::Duration::ZERO).await.expect("it answers");
    assert_eq!(check.get(claim.id).await, before, "a refused write changes nothing, {why}");
}

async fn a_lost_claim_writes_nothing<S: TaskStore>(check: StoreCheck<S>) {
    let stale = check.begin().await.claim;
    check.advance(11);
    let other = WorkerId::new();
    check.join(other).await;
    check.store.bury(other, 3).await.expect("it can bury");
    writes_are_refused(&check, &stale, "after the worker was buried").await;
    let current = check.claim_as(other, 1).await.pop().expect("it is due again").claim;
    writes_are_refused(&check, &stale, "while another worker has the task").await;
    // The id of a worker is not enough.
    let forged = Claim { worker: other, ..stale };
    writes_are_refused(&check, &forged, "with an earlier epoch of the same worker").await;
    assert_eq!(check.record(&current, "a").await, Held, "the claim of the other worker holds");
    assert_eq!(check.park(&current, &asking(&["a"])).await, Held);
    writes_are_refused(&check, &current, "after it was given up").await;
    check.answer(stale.id, "a", "1").await;
    let again = check.claim_as(other, 1).await.pop().expect("it is due").claim;
    writes_are_refused(&check, &current, "when the same worker has a later claim").await;
    check.store.leave(other).await.expect("it can leave");
    writes_are_refused(&check, &again, "after the worker left").await;
    check.join(check.worker).await;
    let run = check.begin().await.claim;
    check.store.release(&run, MINUTE).await.expect("it can be released");
    writes_are_refused(&check, &run, "after it was released").await;
}

async fn a_worker_that_is_gone_claims_nothing<S: TaskStore>(check: StoreCheck<S>) {
    let stranger = claimant(WorkerId::new());
    let created = check.store.create(&new_task(ADA), Some(&stranger)).await.expect("there is room");
    assert!(created.claimed.is_none(), "an unknown worker claims nothing at a creation");
    let claimed = check.store.claim(&stranger, 5).await.expect("it answers");
    assert!(claimed.tasks.is_empty(), "an unknown worker claims nothing");
    let beaten = check.store.beat(stranger.worker, MINUTE).await.expect("it answers");
    assert_eq!(beaten, None, "a beat does not bring back a worker");
    let claimed = check.claim().await.expect("a worker that is there claims it");
    let other = Claimant { tools: vec!["other".into()], ..claimant(check.worker) };
    check.store.release(&claimed.claim, std::time::Duration::ZERO).await.expect("it answers");
    assert!(check.store.claim(&other, 5).await.expect("it answers").tasks.is_empty(), "it does not have the tool");
}

async fn a_dead_worker_is_buried<S: TaskStore>(check: StoreCheck<S>) {
    let [first, second] = [check.begin().await.claim, check.begin().await.claim];
    assert_eq!(check.record(&first, "a").await, Held);
    let other = WorkerId::new();
    check.join(other).await;
    let held = check.store.beat(check.worker, 10 * MINUTE).await.expect("it answers").expect("it is alive");
    assert_eq!(held.len(), 2, "a beat says what the worker holds");
    assert!([first, second].iter().all(|claim| held.contains(claim)), "a beat says what the worker holds");
    check.advance(6);
    check.store.beat(check.worker, 10 * MINUTE).await.expect("it answers");
    check.advance(6);
    check.store.bury(other, 3).await.expect("it can bury");
    assert!(check.claim_as(other, 5).await.is_empty(), "a worker that beats is alive");
    check.advance(6);
    let died = check.store.bury(other, 3).await.expect("it can bury");
    assert_eq!(died, [], "one death is not the end");
    assert!(check.get(first.id).await.expect("it is there").waits_since.is_some(), "a task of a dead worker waits");
    assert_eq!(check.store.beat(check.worker, MINUTE).await.expect("it answers"), None, "who is buried is gone");
    let claimed = check.claim_as(other, 5).await;
    assert_eq!(claimed.len(), 2, "tasks of a dead worker are due");
    let first = claimed.iter().find(|task| task.run.id == first.id).expect("it is one of them");
    assert_eq!(first.run.steps.len(), 1, "a step outlives its worker");
    check.advance(11);
    check.store.bury(other, 3).await.expect("it can bury");
    assert!(check.store.beat(other, MINUTE).await.expect("it answers").is_some(), "nobody buries itself");
}

async fn deaths_are_counted<S: TaskStore>(check: StoreCheck<S>) {
    let undertaker = WorkerId::new();
    check.join(undertaker).await;
    let mut id = None;
    let die = async |id: Option<TaskId>, step: Option<&str>| {
        let worker = WorkerId::new();
        check.join(worker).await;
        let claim = match id {
            None => {
                let task = new_task(ADA);
                let created = check.store.create(&task, Some(&claimant(worker))).await.expect("there is room");
                created.claimed.expect("it is claimed").claim
            }
            Some(_) => check.claim_as(worker, 1).await.pop().expect("it is due").claim,
        };
        if let Some(step) = step {
            assert_eq!(check.record(&claim, step).await, Held);
        }
        check.advance(11);
        (claim, check.store.bury(undertaker, 3).await.expect("it can bury"))
    };
    for (step, count) in [(None, 0), (None, 0), (Some("a"), 0), (None, 0), (Some("b"), 0), (None, 0), (None, 1)] {
        let (claim, died) = die(id, step).await;
        id = Some(claim.id);
        assert_eq!(died.len(), count, "a task dies at the third death without a step in between");
    }
    let id = id.expect("it is set");
    assert_eq!(check.state(id).await, TaskState::Ended(TaskEnd::Died));
    check.join(check.worker).await;
    assert!(check.claim().await.is_none(), "a task that died is not due");
}

async fn what_is_given_back_is_due_again<S: TaskStore>(check: StoreCheck<S>) {
    let ClaimedTask { claim, run } = check.begin().await;
    let since = check.get(run.id).await.expect("it is there").created;
    for _ in 0..4 {
        let claim = match check.claim().await {
            Some(again) => again.claim,
            None => claim,
        };
        check.store.release(&claim, 5 * MINUTE).await.expect("it can be released");
        let waits = check.get(run.id).await.expect("it is there").waits_since;
        assert_eq!(waits, Some(since), "it has waited all along");
        check.advance(4);
        assert!(check.claim().await.is_none(), "it is not due yet");
        check.advance(2);
    }
    // No deaths.
    let claim = check.claim().await.expect("it is due").claim;
    check.store.leave(check.worker).await.expect("it can leave");
    let waits = check.get(run.id).await.expect("it is there").waits_since.expect("it waits");
    assert!(waits >= since + 20 * MINUTE, "it ran until now");
    let other = WorkerId::new();
    check.join(other).await;
    let again = check.claim_as(other, 1).await.pop().expect("what a worker leaves is due at once").claim;
    assert!(again.epoch > claim.epoch);
}

async fn times_are_up<S: TaskStore>(check: StoreCheck<S>) {
    let (running, waiting) = (check.begin().await.claim, check.begin().await.claim);
    assert_eq!(check.park(&waiting, &asking(&["a"])).await, Held);
    let [ended, late] = [check.begin().await.claim, check.begin().await.claim];
    let end = TaskEnd::Completed("done".into());
    assert_eq!(check.store.finish(&ended, &end).await.expect("it answers"), Held);
    check.advance(90);
    assert_eq!(check.store.finish(&late, &end).await.expect("it answers"), Held);
    assert_eq!(check.store.sweep().await.expect("it sweeps"), [], "no time is up");
    assert_eq!(check.state(ended.id).await, TaskState::Ended(end.clone()), "nothing is gone before its time");
    check.advance(11);
    let mut expired = check.store.sweep().await.expect("it sweeps");
    expired.sort();
    let mut expected = [running.id, waiting.id];
    expected.sort();
    assert_eq!(expired, expected, "open tasks expire");
    assert_eq!(check.get(ended.id).await, None, "an ended task is removed");
    assert_eq!(check.state(late.id).await, TaskState::Ended(end), "a task can be read for a while after its end");
    for id in expected {
        assert_eq!(check.state(id).await, TaskState::Ended(TaskEnd::Expired));
    }
    writes_are_refused(&check, &running, "after the task expired").await;
    assert_eq!(check.store.sweep().await.expect("it sweeps"), [], "a task expires once");
    check.advance(31);
    check.store.sweep().await.expect("it sweeps");
    for id in [running.id, waiting.id, late.id] {
        assert_eq!(check.get(id).await, None, "an ended task is removed");
    }
    let origin = NewTask { origin: Some("a state".into()), ttl: std::time::Duration::ZERO, ..new_task(ADA) };
    let first = check.create(&origin).await.id;
    assert_eq!(check.store.sweep().await.expect("it sweeps"), [first], "a task without time expires at once");
    check.advance(31);
    check.store.sweep().await.expect("it sweeps");
    let again = NewTask { id: TaskId::new(), ttl: std::time::Duration::MAX, keep: std::time::Duration::MAX, ..origin };
    assert_eq!(check.create(&again).await.id, again.id, "the origin of a task that is gone counts no more");
}

async fn claims_are_shared<S: TaskStore>(check: StoreCheck<S>) {
    for owner in [ADA, ADA, ADA, ADA, BOB, BOB] {
        check.create(&new_task(owner)).await;
    }
    let fair = Claimant { of_owner: 1, ..claimant(check.worker) };
    let owners = async |most| {
        let claimed = check.store.claim(&fair, most).await.expect("it answers").tasks;
        claimed.iter().map(|task| task.run.owner).collect::<Vec<_>>()
    };
    assert_eq!(owners(0).await, [], "it asked for none");
    assert_eq!(owners(1).await, [ADA], "the first that is due");
    assert_eq!(owners(1).await, [BOB], "an owner with its share comes after others");
    let mut rest = owners(10).await;
    rest.sort_by_key(|owner| owner.0);
    assert_eq!(rest, [ADA, ADA, ADA, BOB], "slots are not kept free");
}

async fn races_have_one_winner<S: TaskStore>(check: StoreCheck<S>) {
    let workers = [(); 4].map(|()| WorkerId::new());
    for worker in workers {
        check.join(worker).await;
    }
    let tasks: Vec<_> = (0..20).map(|_| new_task(ADA)).collect();
    join_all(tasks.iter().map(|task| check.create(task))).await;
    let claimed = join_all((0..20).map(|n| check.claim_as(workers[n % 4], 2))).await.concat();
    let mut ids: Vec<_> = claimed.iter().map(|task| task.run.id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!((claimed.len(), ids.len()), (20, 20), "each task is claimed once");
    for (n, task) in claimed.iter().enumerate() {
        let (claim, id) = (&task.claim, task.run.id);
        if n % 2 == 0 {
            let end = TaskEnd::Completed("done".into());
            let (finished, cancelled) = join(check.store.finish(claim, &end), check.store.cancel(&ADA, &id)).await;
            let won = (finished.expect("it answers") == Held, cancelled.expect("it answers") == Some(true));
            assert_ne!(won.0, won.1, "one end counts");
            let end = if won.0 { end } else { TaskEnd::Cancelled };
            assert_eq!(check.state(id).await, TaskState::Ended(end), "the end that counts is read");
        } else {
            assert_eq!(check.park(claim, &asking(&["a", "b"])).await, Held);
            let (worker, answer) = (claimant(workers[n % 4]), |key: &str| [(key.into(), "1".into())]);
            let (a, b) = (answer("a"), answer("b"));
            let answer = |answers| check.store.answer(&ADA, &id, answers, Some(&worker));
            let answered = join_all([answer(&a), answer(&b), answer(&a), answer(&b)]).await;
            let answered: Vec<_> =
                answered.into_iter().map(|one| one.expect("it answers").expect("it is there")).collect();
            assert_eq!(answered.iter().filter(|one| one.is_changed).count(), 2, "each question is answered once");
            assert_eq!(answered.iter().filter(|one| one.claimed.is_some()).count(), 1, "one claims the task");
        }
    }
    let origin = |_| NewTask { origin: Some("a state".into()), ..new_task(ADA) };
    let births: Vec<_> = (0..8).map(origin).collect();
    let born = join_all(births.iter().map(|task| check.create(task))).await;
    assert!(born.iter().all(|task| task.id == born[0].id), "one origin gives one task");
}
