use crate::{
    auth::{Budget, Budgets, CALLS, quarter},
    call::RecordRules,
    tasks::TaskPlaces,
};

/// Defines the limits: for each its method, what the method takes, its type and its default.
macro_rules! limits {
    (
        $(#[$about:meta])*
        pub struct $Limits:ident { $($(#[$doc:meta])* $name:ident($amount:ident): $ty:ty = $default:expr,)* }
    ) => {
        $(#[$about])*
        pub struct $Limits {
            $(pub(crate) $name: $ty,)*
        }

        impl $Limits {
            /// The default limits.
            pub fn new() -> Self {
                Self { $($name: $default,)* }
            }

            $($(#[$doc])*
            pub fn $name(self, $amount: usize) -> Self {
                Self { $name: $amount.into(), ..self }
            })*

            /// The methods that were called with zero: nothing could run.
            pub(super) fn mistakes(&self) -> impl Iterator<Item = &'static str> {
                let limits = [$((stringify!($name), Option::from(self.$name))),*];
                limits.into_iter().filter(|(_, limit)| *limit == Some(0)).map(|(method, _)| method)
            }
        }
    };
}

limits! {
    /// How much a server takes on, in total and for one caller; see [`Server::limits`](super::Server::limits).
    ///
    /// A caller is an issuer and a subject ([`Principal`](crate::auth::Principal)). What is not set for one caller is a quarter of
    /// what all callers together may use, so that one caller never uses up everything. Raise it for a gateway that calls for all
    /// its users under one identity. All requests without a caller together may use half, if the server can know callers; otherwise
    /// they have no such limit, only that of their session.
    ///
    /// ```
    /// use rejoinder::{auth::Principal, prelude::*, server::Limits, testing::{Client, Filter}};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let limits = Limits::new().calls(1_000).subscriptions(2).subscriptions_per_caller(1);
    /// let client = Client::new(Server::new("small", "1.0.0").tools([]).limits(limits));
    /// let [ada, bob] = ["ada", "bob"].map(|name| client.clone().extension(Principal::new(name)));
    /// let _first = ada.listen(Filter::default().tools()).await.expect("there is room");
    /// let second = ada.listen(Filter::default().tools()).await.unwrap_err();
    /// assert_eq!(second.rpc().unwrap().status, 429);
    /// let _third = bob.listen(Filter::default().tools()).await.expect("there is room for others");
    /// let fourth = client.listen(Filter::default().tools()).await.unwrap_err();
    /// assert_eq!(fourth.rpc().unwrap().status, 503);
    /// # }
    /// ```
    #[must_use = "pass it to `Server::limits`"]
    #[derive(Debug, Clone, Copy)]
    pub struct Limits {
        /// The size of a message on any transport (the body of a request, a line), in bytes; 4 MiB by default.
        ///
        /// Other parts of a message have their own limits: 1,024 bytes for the `id` and for the `progressToken` of a
        /// request, 64 KiB for `_meta` and for the `params` of `initialize`, and [`answers_size`](Self::answers_size) for
        /// answers.
        message_size(bytes): usize = 4 * 1024 * 1024,

        /// The JSON values in a message, with those inside others; 200,000 by default. A message with more gets the error -32600,
        /// and HTTP 400 if it is stateless.
        ///
        /// A value takes up to sixty times as much memory as its text.
        message_values(most): usize = 200_000,

        /// The largest `inputResponses` of a request, and the largest answer in a session, in bytes; 32 KiB by default.
        ///
        /// Raise it if the client's model samples images, for example. The state of a call carries the answers to the next round,
        /// so raise [`StatePolicy::limit`](crate::state::StatePolicy::limit) as well: it must be about 1.6 times as much. A user
        /// whose answer is longer than this on a session, or does not fit into the state beside earlier answers, reads that it is
        /// too long, and is asked again.
        answers_size(bytes): Option<usize> = None,

        /// Calls that run at once, on all transports together; 10,000 by default. A further call gets the error -32603, and HTTP
        /// 503 if it is stateless.
        calls(most): usize = 10_000,

        /// Subscriptions (`subscriptions/listen`) that are open at once, on all transports together; 1,000 by default, fewer
        /// than connections. A further one gets the error -32603, and HTTP 503.
        ///
        /// A session's own notifications do not count. One subscription or session names at most 10,000 resources.
        subscriptions(most): usize = 1_000,

        /// [Background tasks](crate::BackgroundTasks) that wait or run at the same time; 10,000 by default. Beyond the limit,
        /// `add` returns an error.
        background_tasks(most): usize = 10_000,

        /// Background tasks of one caller that wait or run at the same time; a quarter of
        /// [`background_tasks`](Self::background_tasks) by default. Beyond the limit, `add` returns an error.
        background_tasks_per_caller(most): Option<usize> = None,

        /// [Tasks](crate::guide::tasks) that have not ended; 10,000 by default. A further one gets the error -32603, and HTTP
        /// 503.
        tasks(most): usize = 10_000,

        /// Tasks of one caller that have not ended; a quarter of [`tasks`](Self::tasks) by default. A further one gets the error
        /// -32603, and HTTP 429.
        tasks_per_caller(most): Option<usize> = None,

        /// What the server holds for its clients, in bytes; 128 MiB by default. What finds no room gets the error -32603, and HTTP
        /// 503 if it is stateless; a question over a session fails, and a reply is not kept for a client that comes back.
        ///
        /// It counts requests that have not arrived completely, running calls (their head, and their arguments as text and as
        /// values), open questions over sessions, replies that sessions keep, joined texts of streams, the URIs of subscriptions,
        /// heads of WebSockets, and messages over WebSockets and HTTP+SSE that wait. The first 4 KiB of each request, call and
        /// subscription do not count, so ordinary requests find room, and one that takes more than half of the limit counts as half of it. What functions
        /// allocate themselves is not counted, and neither are replies on their way to the client.
        memory(bytes): usize = 128 * 1024 * 1024,

        /// Calls of one caller that run at once; a quarter of [`calls`](Self::calls) by default. A further call gets the error
        /// -32603, and HTTP 429 if it is stateless.
        calls_per_caller(most): Option<usize> = None,

        /// Questions over the sessions of one caller that wait for an answer; a quarter of [`calls`](Self::calls) by default. A
        /// further question fails, as if the client could not be asked. Stateless questions wait at the client.
        questions_per_caller(most): Option<usize> = None,

        /// Sessions over HTTP, WebSockets and streams of HTTP+SSE of one caller; a quarter of
        /// [`http::Config::max_sessions`](crate::http::Config::max_sessions) by default. A further `initialize` ends the
        /// caller's session that has been idle longest; if there is none, and for a WebSocket and a stream, it is HTTP 429.
        sessions_per_caller(most): Option<usize> = None,

        /// Subscriptions of one caller; a quarter of [`subscriptions`](Self::subscriptions) by default. A further one gets the
        /// error -32603, and HTTP 429.
        subscriptions_per_caller(most): Option<usize> = None,

        /// What the server holds for one caller, in bytes; a quarter of [`memory`](Self::memory) by default. What finds no room
        /// gets the error -32603, and HTTP 429 if it is stateless.
        memory_per_caller(bytes): Option<usize> = None,
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}

impl Limits {
    /// The size of answers, where the record of a call may take so many bytes; an error if it was set to more than that has
    /// room for.
    pub(super) fn answers_within(&self, record: usize) -> Result<usize, String> {
        // Less what else is in a record with one answer.
        let most = RecordRules::bytes_with_answers(record, 0).saturating_sub(256);
        match self.answers_size {
            Some(bytes) if bytes > most => Err(format!(
                "answers of {bytes} bytes do not fit into the state of a call, which has room for {most}: raise \
                 `StatePolicy::limit` to {}, or lower this",
                bytes / 5 * 8 + 2048
            )),
            set => Ok(set.unwrap_or(32 * 1024)),
        }
    }

    /// How many tasks there may be, and how many of that caller: all others together may have half where callers can be known.
    pub(super) fn task_places(&self, is_known: bool, can_identify: bool) -> TaskPlaces {
        let in_all = self.tasks;
        let of_owner = match (is_known, can_identify) {
            (true, _) => self.tasks_per_caller.unwrap_or(quarter(in_all)),
            (false, true) => in_all.div_ceil(2),
            (false, false) => in_all,
        };
        TaskPlaces { in_all, of_owner }
    }

    /// The budgets of a server with at most so many sessions. A further session ends an idle one, so the budget of sessions limits
    /// each caller only.
    pub(super) fn budgets(&self, sessions: usize, can_identify: bool) -> Budgets {
        let shared = |budget: Budget, of| if can_identify { budget.sharing_with_anonymous(of) } else { budget };
        let budget = |what, in_all, set: Option<usize>, of| {
            if set.is_some_and(|set| set > of) {
                tracing::warn!(
                    "`Limits` for one caller has no effect: it allows more {what} than all callers have ({of})"
                );
            }
            shared(Budget::new(what, in_all, set.unwrap_or_else(|| quarter(of))), of)
        };
        let (all, calls, subscriptions) = (usize::MAX, self.calls, self.subscriptions);
        let tasks = self.background_tasks;
        Budgets {
            calls: budget(CALLS, calls, self.calls_per_caller, calls),
            questions: shared(
                Budget::new("open questions", all, self.questions_per_caller.unwrap_or(quarter(calls))),
                calls,
            ),
            sessions: budget("sessions", all, self.sessions_per_caller, sessions),
            subscriptions: budget("subscriptions", subscriptions, self.subscriptions_per_caller, subscriptions),
            background_tasks: budget("background tasks", tasks, self.background_tasks_per_caller, tasks),
            bytes: shared(
                Budget::of_bytes(self.memory, self.memory_per_caller.unwrap_or(quarter(self.memory))),
                self.memory,
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Server, rounds::seal::Log};

    #[test]
    fn a_share_is_a_quarter_unless_set_and_never_nothing() {
        for (total, share) in [(0, 1), (1, 1), (2, 1), (8, 2), (10, 3), (10_000, 2_500)] {
            assert_eq!(quarter(total), share, "of {total}");
        }
        let budgets = Limits::new().calls(100).subscriptions(8).calls_per_caller(7).budgets(40, false);
        let limits = [budgets.calls, budgets.questions, budgets.sessions, budgets.subscriptions];
        let limits = limits.map(|budget| budget.of_caller());
        assert_eq!(limits, [7, 25, 10, 2]);
    }

    #[test]
    fn a_limit_for_one_caller_above_the_total_is_logged() {
        let limits = Limits::new().calls(8).calls_per_caller(9).questions_per_caller(9).sessions_per_caller(40);
        let log = Log::of(|| _ = limits.budgets(40, false));
        assert!(log.lines().count() == 1 && log.contains("more concurrent calls than all callers have (8)"), "{log}");
    }

    #[test]
    fn a_limit_of_zero_is_a_build_error() {
        let set: [fn(Limits, usize) -> Limits; 15] = [
            Limits::tasks,
            Limits::tasks_per_caller,
            Limits::message_size,
            Limits::message_values,
            Limits::memory,
            Limits::memory_per_caller,
            Limits::answers_size,
            Limits::calls,
            Limits::subscriptions,
            Limits::background_tasks,
            Limits::background_tasks_per_caller,
            Limits::calls_per_caller,
            Limits::questions_per_caller,
            Limits::sessions_per_caller,
            Limits::subscriptions_per_caller,
        ];
        for set in set {
            let check = |most| Server::new("small", "1").limits(set(Limits::new(), most)).check();
            let error = check(0).expect_err("nothing could run");
            assert_eq!((error.0.len(), &*error.0[0].message), (1, "it must be at least 1"), "{error}");
            assert!(check(1).is_ok(), "{error}");
        }
    }
}
