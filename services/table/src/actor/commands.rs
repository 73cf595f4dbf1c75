//! Commands that are not repeats: refused, or done and durable.

use eventlog::Position;
use primitives::{PlayerId, RequestId, TableId};
use proto::common::v1::{ErrorReason, Resolution};
use proto::table::v1::LatencyStep;
use system::clock::{Clock as _, SystemClock};
use tokio::sync::oneshot;
use wire::api_refusal;

use super::{Actor, CommandRequest, EntryAuthor, SERVICE_ACTOR, TaskEnd};
use crate::answer::{Answer, Outcome};
use crate::author::Author;
use crate::commands::{self, Command, CommandContext, Verdict};
use crate::ids;
use crate::people::registry::RecordPlace;
use crate::stops;

impl CommandRequest {
    /// Command of the service itself after a player was renamed by the record at `named`, and the
    /// receiver of its answer. A repeat of it changes nothing.
    pub(crate) fn publish_name(
        table: TableId,
        player: PlayerId,
        named: RecordPlace,
    ) -> (CommandRequest, oneshot::Receiver<Outcome>) {
        let (reply, answer) = oneshot::channel();
        let id = ids::of_table("renamed", named.at, table, named.position.0);
        let request = CommandRequest {
            command: Command::PublishName { player },
            player: None,
            author: Author {
                actor: SERVICE_ACTOR.into(),
                trace: chassis::telemetry::trace_id(),
                request: RequestId(id),
                digest: [0; 32],
            },
            arrived: SystemClock::new().now(),
            span: tracing::Span::current(),
            reply,
        };
        (request, answer)
    }
}

impl Actor {
    /// Judges a new command and refuses it, or appends its events and answers.
    pub(super) async fn run_new_command(&mut self, request: CommandRequest) -> Result<(), TaskEnd> {
        if self.halted.is_some() {
            return self.run_while_halted(request).await;
        }
        let now = self.clock.now();
        let waited = now.since(request.arrived);
        self.own_delay.observe(waited, now);
        self.activity.observe(&LatencyStep::Queue, waited);
        self.room_delay.observe_at_table(self.state.table.id, waited, now);
        let context = CommandContext {
            player: request.player,
            request: request.author.request,
            now,
            // Players are not charged for the time that the room took to receive their command.
            arrived: request.arrived.min(now),
            is_room_behind: self.room_delay.state(now).is_behind,
        };
        let (table, play) = (&self.state.table, self.state.play.as_ref());
        let counted = request.player.filter(|_| request.command.is_counted());
        let judged = counted.map_or(Ok(()), |player| self.bounds.check(player, now));
        let judged = judged.and_then(|()| commands::judge(table, play, &request.command, &context));
        let verdict = match judged {
            Ok(verdict) => verdict,
            Err(refusal) => {
                self.answer_unwritten(Err(refusal), request.reply);
                return Ok(());
            }
        };
        if verdict.batch.events.is_empty() {
            let answer = match verdict.recorded_before {
                Some(at) => self.complete_answer(&request.command, verdict.answer, at),
                None => Answer::without_receipt(&request.command, verdict.answer),
            };
            self.answer_unwritten(answer, request.reply);
            return Ok(());
        }
        let by = EntryAuthor::of_command(request.author, verdict.answer.clone());
        match self.append(verdict.batch, by).await? {
            Ok(receipt) => {
                if let Some(player) = counted {
                    self.bounds.count(player, now);
                }
                match verdict.awaited_buy_in {
                    Some(transfer) => self.wait_for_buy_in(transfer, verdict.answer, request.reply),
                    None => {
                        let answer =
                            self.complete_answer(&request.command, verdict.answer, receipt.first);
                        let _ = request.reply.send(answer);
                    }
                }
            }
            Err(refusal) => {
                let _ = request.reply.send(Err(refusal));
            }
        }
        Ok(())
    }

    /// Refuses every command at a table that contradicts its log, except an operator's command to
    /// read it again.
    async fn run_while_halted(&mut self, request: CommandRequest) -> Result<(), TaskEnd> {
        let resume = match &request.command {
            Command::Resume(resume) if resume.resolution == Resolution::Retry => resume,
            Command::Resume(_) => {
                let message = "the table as a whole has stopped: it can only be tried again";
                let no = api_refusal(ErrorReason::NothingStopped, message).field("resolution");
                self.answer_unwritten(Err(no), request.reply);
                return Ok(());
            }
            Command::SitDown { .. }
            | Command::StandUp { .. }
            | Command::SitOut { .. }
            | Command::Act(_)
            | Command::CommitEntropy { .. }
            | Command::RevealEntropy { .. }
            | Command::PublishName { .. }
            | Command::Disable(_)
            | Command::Enable(_)
            | Command::Close => {
                let message = "this table has stopped and waits for an operator; nothing is lost";
                let no = api_refusal(ErrorReason::Corrupt, message);
                self.answer_unwritten(Err(no), request.reply);
                return Ok(());
            }
        };
        let Verdict { batch, answer, awaited_buy_in: _, recorded_before: _ } =
            stops::reload_table(&self.state.table, resume);
        let by = EntryAuthor::of_command(request.author, answer.clone());
        match self.append(batch, by).await? {
            Ok(_) => {
                let _ = request.reply.send(Ok(Answer::Stored(answer)));
                Err(TaskEnd::Reload)
            }
            Err(refusal) => {
                let _ = request.reply.send(Err(refusal));
                Ok(())
            }
        }
    }

    /// Completes an answer with what is known only after the append.
    pub(super) fn complete_answer(
        &self,
        command: &Command,
        stored: Vec<u8>,
        first: Position,
    ) -> Outcome {
        let key = &self.receipt_key;
        match command {
            Command::CommitEntropy { .. } => {
                key.complete_commit(&stored, first.0).map(Answer::CommitEntropy)
            }
            Command::RevealEntropy { .. } => {
                key.complete_reveal(&stored, first.0).map(Answer::RevealEntropy)
            }
            Command::Act(_) => key.complete_decision(&stored, first.0).map(Answer::Act),
            Command::StandUp { .. } => key.complete_leave(&stored, first.0).map(Answer::StandUp),
            Command::SitDown { .. }
            | Command::SitOut { .. }
            | Command::Resume(_)
            | Command::PublishName { .. }
            | Command::Disable(_)
            | Command::Enable(_)
            | Command::Close => Ok(Answer::Stored(stored)),
        }
    }
}
