use super::*;

#[tokio::test(start_paused = true)]
async fn a_task_parks_and_goes_on_with_its_answer() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let script = Script::new({
        let seen = Arc::clone(&seen);
        move |run, journal| {
            lock(&seen).push(run.clone());
            async move {
                if run.questions.is_empty() {
                    journal.record("submit", "7".into()).await;
                    journal.end(asks("asked", "font")).await;
                } else {
                    journal.end(RunEnd::Completed("done".into())).await;
                }
            }
        }
    });
    let (_, keeper) = memory();
    let process = Process::start(&keeper, &script, 4).await;
    let id = process.create(ADA).await;
    let asked = process.get(id).await;
    let TaskState::Open(questions) = asked.state else { panic!("{asked:?}") };
    assert_eq!(&*questions[0].key, "font");
    assert_eq!(asked.waits_since, None);
    process.answer(id, "size", "12").await;
    process.answer(id, "font", "Inter").await;
    process.answer(id, "font", "Times").await;
    assert_eq!(process.get(id).await.state, completed("done"));
    let seen = lock(&seen).clone();
    assert_eq!(seen.len(), 2);
    assert_eq!((&seen[0].record[..], &seen[1].record[..]), (&b"birth"[..], &b"asked"[..]));
    assert_eq!(seen[1].steps, []);
    assert_eq!(seen[1].questions[0].answer, Some("Inter".into()));
    // Two for each end, and one for the answer.
    assert_eq!(lock(&script.changes)[&id], 3);
    assert!(keeper.get(&BOB, &id).await.expect("the store answers").is_none());
    assert_eq!(keeper.cancel(&BOB, &id).await.expect("the store answers"), None);
    assert_eq!(keeper.answer(&BOB, &id, Vec::new()).await.expect("the store answers"), None);
}

/// Records a step that each run has of its own, up to the third, and never ends.
fn endless() -> Arc<Script> {
    Script::new(|run, journal| async move {
        if run.steps.len() < 2 {
            journal.record(&format!("step {}", run.steps.len()), "1".into()).await;
        }
        std::future::pending::<()>().await;
    })
}

#[tokio::test(start_paused = true)]
async fn a_task_of_a_dead_worker_goes_on_and_dies_without_progress() {
    let (script, (_, keeper)) = (endless(), memory());
    let process = Process::start(&keeper, &script, 4).await;
    let id = process.create(ADA).await;
    process.kill().await;
    // A death with a step, another with one, and two without.
    for _ in 0..3 {
        let process = Process::start(&keeper, &script, 4).await;
        after(8).await;
        assert!(process.get(id).await.waits_since.is_none(), "its lease runs");
        after(5).await;
        assert!(process.get(id).await.waits_since.is_none(), "it runs again");
        assert_eq!(process.get(id).await.state, TaskState::Open(Vec::new()));
        process.kill().await;
    }
    let process = Process::start(&keeper, &script, 4).await;
    after(12).await;
    assert_eq!(process.get(id).await.state, TaskState::Ended(TaskEnd::Died));
    assert_eq!(lock(&script.changes)[&id], 1);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_was_frozen_begins_no_step() {
    let journals = Arc::new(Mutex::new(Vec::new()));
    let script = Script::new({
        let journals = Arc::clone(&journals);
        move |_, journal| {
            lock(&journals).push(journal);
            std::future::pending()
        }
    });
    let (_, keeper) = memory();
    let process = Process::start(&keeper, &script, 4).await;
    process.create(ADA).await;
    process.settle().await;
    let journal = Arc::clone(&lock(&journals)[0]);
    assert!(journal.holds());
    // Nothing else has run when it is asked.
    std::pin::pin!(tokio::time::advance(Duration::from_secs(12))).as_mut().now_or_never();
    assert!(!journal.holds(), "its lease has ended, and nobody has told it");
}

#[tokio::test(start_paused = true)]
async fn the_clock_of_the_store_can_be_advanced_instead() {
    let (script, (store, keeper)) = (endless(), memory());
    let process = Process::start(&keeper, &script, 4).await;
    let id = process.create(ADA).await;
    process.kill().await;
    let process = Process::start(&keeper, &script, 4).await;
    let before = tokio::time::Instant::now();
    crate::tasks::TaskStore::clock(&store).advance(Duration::from_secs(12));
    process.settle().await;
    assert!(process.get(id).await.waits_since.is_none(), "it runs again");
    keeper.clock().advance(Duration::from_secs(3600));
    process.settle().await;
    assert_eq!(process.get(id).await.state, TaskState::Ended(TaskEnd::Expired));
    assert_eq!(script.stops(), [RunStop::Ended]);
    keeper.clock().advance(Duration::from_secs(600));
    process.settle().await;
    assert_eq!(keeper.get(&ADA, &id).await.expect("the store answers"), None);
    assert_eq!(before, tokio::time::Instant::now(), "nothing waits");
}

#[tokio::test(start_paused = true)]
async fn a_run_hears_of_a_cancel_at_once() {
    let (script, (_, keeper)) = (endless(), memory());
    let process = Process::start(&keeper, &script, 4).await;
    let id = process.create(ADA).await;
    for _ in 0..2 {
        assert_eq!(keeper.cancel(&ADA, &id).await.expect("the store answers"), Some(()));
        process.settle().await;
        assert_eq!(script.stops(), [RunStop::Ended]);
        assert_eq!(process.get(id).await.state, TaskState::Ended(TaskEnd::Cancelled));
    }
    assert_eq!(lock(&script.changes)[&id], 1);
}

#[tokio::test(start_paused = true)]
async fn a_run_elsewhere_hears_of_a_cancel_by_the_beat() {
    let (script, (store, keeper)) = (endless(), memory());
    let process = Process::start(&keeper, &script, 4).await;
    let id = process.create(ADA).await;
    let elsewhere = LeaseKeeper::new(store);
    elsewhere.cancel(&ADA, &id).await.expect("the store answers");
    process.settle().await;
    assert_eq!(script.stops(), []);
    after(3).await;
    assert_eq!(script.stops(), [RunStop::Ended]);
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_stops_hands_over_without_a_death() {
    let (script, (_, keeper)) = (endless(), memory());
    let mut process = Process::start(&keeper, &script, 4).await;
    let id = process.create(ADA).await;
    for stops in 1..6 {
        process.stop().await;
        assert_eq!(script.stops(), vec![RunStop::HandedOver; stops]);
        let waits = keeper.get(&ADA, &id).await.expect("the store answers").expect("it is there");
        assert!(waits.waits_since.is_some());
        process = Process::start(&keeper, &script, 4).await;
        assert!(process.get(id).await.waits_since.is_none(), "it runs again, at once");
    }
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_stops_lets_runs_end() {
    let script = Script::new(|_, journal| async move {
        tokio::time::sleep(Duration::from_secs(2)).await;
        journal.end(RunEnd::Completed("done".into())).await;
    });
    let (_, keeper) = memory();
    let process = Process::start(&keeper, &script, 1).await;
    let id = process.create(ADA).await;
    let waiting = process.create(ADA).await;
    process.stop().await;
    let state = async |id| keeper.get(&ADA, &id).await.expect("the store answers").expect("it is there").state;
    assert_eq!(state(id).await, completed("done"));
    assert_eq!(state(waiting).await, TaskState::Open(Vec::new()), "nobody began it");
}

#[tokio::test(start_paused = true)]
async fn what_cannot_run_here_is_tried_again_later_and_waits_all_along() {
    let runs = Arc::new(Mutex::new(0));
    let script = Script::new({
        let runs = Arc::clone(&runs);
        move |_, _| {
            *lock(&runs) += 1;
            let panics = *lock(&runs) % 2 == 0;
            async move { assert!(!panics, "a panic of the runner") }
        }
    });
    let (_, keeper) = memory();
    let process = Process::start(&keeper, &script, 1).await;
    let id = process.create(ADA).await;
    after(23).await;
    assert_eq!(*lock(&runs), 5);
    let task = process.get(id).await;
    assert_eq!(task.waits_since, Some(task.created));
    assert_eq!(task.state, TaskState::Open(Vec::new()), "these are no deaths");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_only_serves_runs_nothing() {
    let (script, (_, keeper)) = (endless(), memory());
    let process = Process::start(&keeper, &script, 0).await;
    let id = process.create(ADA).await;
    after(3000).await;
    assert!(process.get(id).await.waits_since.is_some());
    after(700).await;
    assert_eq!(process.get(id).await.state, TaskState::Ended(TaskEnd::Expired), "it still ends tasks in time");
}

#[tokio::test(start_paused = true)]
async fn a_run_sleeps() {
    let script = Script::new(|run, journal| async move {
        if run.record == "birth" {
            let wakes = Some(journal.now() + Duration::from_secs(60));
            journal.end(RunEnd::Parked(Parking { record: "slept".into(), wakes, ..Parking::default() })).await;
        } else {
            journal.end(RunEnd::Completed("done".into())).await;
        }
    });
    let (_, keeper) = memory();
    let process = Process::start(&keeper, &script, 1).await;
    let id = process.create(ADA).await;
    after(59).await;
    assert_eq!(process.get(id).await.waits_since, None);
    assert_eq!(process.get(id).await.state, TaskState::Open(Vec::new()));
    after(2).await;
    assert_eq!(process.get(id).await.state, completed("done"));
}

#[tokio::test(start_paused = true)]
async fn messages_are_written_once_a_second_and_before_the_end() {
    let script = Script::new(|_, journal| async move {
        for n in 0..25 {
            journal.say(n.to_string().into());
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        journal.say("last".into());
        journal.end(RunEnd::Failed("error".into())).await;
    });
    let (_, keeper) = memory();
    let process = Process::start(&keeper, &script, 1).await;
    let id = process.create(ADA).await;
    after(60).await;
    let task = process.get(id).await;
    assert_eq!(task.message, Some("last".into()));
    assert_eq!(task.state, TaskState::Ended(TaskEnd::Failed("error".into())));
    // At 0, 1 and 2 seconds, before the end, and the end.
    assert_eq!(lock(&script.changes)[&id], 5);
}

#[tokio::test(start_paused = true)]
async fn the_tasks_of_one_owner_leave_slots_to_others() {
    let order = Arc::new(Mutex::new(Vec::new()));
    let script = Script::new({
        let order = Arc::clone(&order);
        move |run, journal| {
            lock(&order).push(run.owner);
            async move {
                tokio::time::sleep(Duration::from_secs(1)).await;
                journal.end(RunEnd::Completed("done".into())).await;
            }
        }
    });
    let (_, keeper) = memory();
    let process = Process::start(&keeper, &script, 4).await;
    for owner in [ADA, ADA, ADA, ADA, ADA, ADA, ADA, BOB, BOB, BOB] {
        process.create(owner).await;
    }
    after(60).await;
    let order = lock(&order);
    assert_eq!(order.len(), 10);
    assert_eq!(order[..4], [ADA; 4], "nobody else waits");
    let next = &order[4..8];
    assert_eq!(next.iter().filter(|owner| **owner == BOB).count(), 2, "{next:?}");
}

#[tokio::test(start_paused = true)]
async fn places_and_bytes_are_limited_and_free_again() {
    let (store, keeper) = memory();
    let budget = crate::auth::Budget::of_bytes(100_000, 30_000);
    store.count_in(budget.clone());
    let process = Process::start(&keeper, &endless(), 0).await;
    let most = TaskPlaces { in_all: 3, of_owner: 2 };
    let create = async |owner, bytes| {
        let task = NewTask { most, call: vec![0; bytes].into(), ttl: Duration::from_secs(10), ..new_task(owner) };
        keeper.create(task).await.map(|task| task.id)
    };
    let first = create(ADA, 20_000).await.expect("there is room");
    assert!(matches!(create(ADA, 20_000).await, Err(BirthError::CallerFull)), "too many bytes");
    create(ADA, 10).await.expect("there is room");
    assert!(matches!(create(ADA, 10).await, Err(BirthError::CallerFull)), "too many tasks");
    create(BOB, 10).await.expect("there is room");
    assert!(matches!(create(BOB, 10).await, Err(BirthError::Full)), "too many tasks in all");
    let used = budget.used();
    assert!((20_000..25_000).contains(&used), "{used}");
    keeper.cancel(&ADA, &first).await.expect("the store answers");
    assert!(budget.used() < used - 19_000, "an ended task has no call");
    assert!(budget.used() > 1_000, "it is still counted");
    create(BOB, 10).await.expect("an ended task takes no place");
    after(13).await;
    create(ADA, 10).await.expect("an expired task takes no place");
    after(700).await;
    assert_eq!(budget.used(), 0);
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_same_origin_gives_the_same_task() {
    let (_, keeper) = memory();
    let birth = |owner| NewTask { origin: Some("state".into()), ..new_task(owner) };
    let create = async |task| keeper.create(task).await.expect("there is room").id;
    let first = create(birth(ADA)).await;
    assert_eq!(create(birth(ADA)).await, first);
    assert_ne!(create(birth(BOB)).await, first);
    assert_ne!(create(new_task(ADA)).await, first);
}

#[tokio::test(start_paused = true)]
async fn a_task_without_time_expires() {
    let (_, keeper) = memory();
    let process = Process::start(&keeper, &endless(), 1).await;
    let tasks = [Duration::ZERO, Duration::MAX].map(|ttl| NewTask { ttl, keep: ttl, ..new_task(ADA) });
    let [none, forever] = tasks.each_ref().map(|task| task.id);
    for task in tasks {
        keeper.create(task).await.expect("there is room");
    }
    after(5).await;
    assert_eq!(keeper.get(&ADA, &none).await.expect("the store answers"), None);
    assert!(matches!(process.get(forever).await.state, TaskState::Open(_)));
}

#[tokio::test(start_paused = true)]
async fn what_a_run_has_done_is_kept_where_there_is_no_room_and_no_task_is_made_meanwhile() {
    let (store, keeper) = memory();
    let budget = crate::auth::Budget::of_bytes(100_000, 100_000);
    store.count_in(budget.clone());
    let large = Script::new(|run: TaskRun, journal: Arc<dyn TaskJournal>| async move {
        if run.steps.is_empty() {
            journal.record("large", vec![0; 200_000].into()).await;
        }
        journal.end(RunEnd::Completed("done".into())).await;
    });
    let process = Process::start(&keeper, &large, 1).await;
    let id = process.create(ADA).await;
    after(1).await;
    assert_eq!(process.get(id).await.state, completed("done"));
    assert!(budget.used() < 10_000, "an ended task has no steps");

    let parked = Script::new(|run: TaskRun, journal: Arc<dyn TaskJournal>| async move {
        if run.questions.is_empty() {
            journal.record("large", vec![0; 200_000].into()).await;
            let asked = vec![NewQuestion { key: "which".into(), name: "which".into(), request: "which?".into() }];
            let record = vec![0; 200_000].into();
            journal.end(RunEnd::Parked(Parking { record, asked, ..Parking::default() })).await;
        }
    });
    process.stop().await;
    let process = Process::start(&keeper, &parked, 1).await;
    process.create(ADA).await;
    after(1).await;
    assert!(matches!(keeper.create(new_task(BOB)).await, Err(BirthError::Full)), "{}", budget.used());
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_was_not_heard_for_too_long_has_not_died() {
    let script = Script::new(|_, _| std::future::pending());
    let (_, keeper) = memory();
    let process = Process::start(&keeper, &script, 1).await;
    let id = process.create(ADA).await;
    for times in 1..6 {
        // As if something had blocked all threads.
        tokio::time::advance(Duration::from_secs(11)).await;
        after(1).await;
        assert_eq!(script.stops(), vec![RunStop::Lost; times]);
        let task = process.get(id).await;
        assert_eq!((task.state, task.waits_since), (TaskState::Open(Vec::new()), None), "it runs again");
    }
}
