//! The running prompts of a manager: what a step is asked for, and what it leaves.

use super::prices::PriceModel;
use super::prompt::{PromptForm, RunningPrompt, RunningSection, StepMark, WrittenSections};
use super::record;
use super::request::{RunningChange, RunningMessages, RunningOutput, RunningRequest};
use super::writer::{PromptWriter, TextWriter, WriterFrame, WrittenPrompt};
use crate::callbacks::Outcome;
use crate::compile::prompt::EntryContent;
use crate::event::Event;
use crate::manager::{BuildOutput, ContextManager};
use crate::request::BuildRequest;
use crate::sensitivity::classified;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::{BuildStats, ContextPack, CutReason, Phase, RunningCosts, RunningStep, SensitivityAction};
use std::borrow::Cow;

/// A step of a running prompt as it is handed out.
pub(crate) struct FinishedStep {
    pub step: RunningStep,
    pub stats: BuildStats,
    /// The record, where the prompt was asked for with an explanation or as text.
    pub pack: Option<ContextPack>,
    pub messages: Option<RunningMessages>,
    pub tokens: u64,
    pub events: Vec<Event>,
}

impl ContextManager {
    /// Goes on with the running prompt of a phase, or cuts it.
    pub(crate) fn run(&mut self, request: &BuildRequest, writer: &dyn PromptWriter) -> Result<Outcome<FinishedStep>> {
        self.answers.reset();
        self.refresh_index();
        self.wake(request.phase);
        if self.answers.is_waiting() {
            return Ok(Outcome::Need(self.answers.take_needs()));
        }
        let asked = request.budget_tokens.unwrap_or_else(|| self.options.budget.of(request.phase));
        let calibrated = self.calibrated(request);
        let (model, scaled) = match &calibrated {
            Some((model, scaled)) => (Some(*model), scaled),
            None => (None, request),
        };
        let budget = scaled.budget_tokens.unwrap_or(asked);
        let format = if let PromptForm::Messages(format) = writer.form() { Some(format) } else { None };
        let prices = self.options.prices.or(request.prices).unwrap_or_else(|| PriceModel::of_format(format));
        let is_loop = request.running == Some(true);
        let sources = self.sources();
        let footer = sources.options.mask_secrets(&scaled.footer).into_owned();
        let running =
            RunningRequest { sources: &sources, request: scaled, footer, writer, budget, asked, prices, is_loop };
        let advanced = running.advance(self.running.of(request.phase));
        let advanced = match model {
            Some(model) => advanced.map_err(|error| self.in_tokens_of(model, error)),
            None => advanced,
        };
        if self.answers.is_waiting() {
            return Ok(Outcome::Need(self.answers.take_needs()));
        }
        let calibration = model.and_then(|model| self.calibrations.of(model));
        let RunningOutput { explanation, step, events, messages, tokens, change, work } = advanced?;
        let handed_out = self
            .running
            .of(request.phase)
            .and_then(|running| running.written.as_ref())
            .map(|written| written.handed_out);
        // Nothing fails from here on.
        let before = self.running.of(request.phase).map_or(0, |running| running.left.len());
        match change {
            RunningChange::Extended(extension) => {
                let Some(running) = self.running.of_mut(request.phase) else {
                    return Err(Error::new(ErrorCode::Internal, "nothing to go on with"));
                };
                let at = running.sections.len();
                running.extend(*extension);
                let is_new_head = running.left.len() != before;
                self.running.note(request.phase, at, is_new_head);
            }
            RunningChange::Replaced(running) => self.running.replace(request.phase, *running),
        }
        let Some(running) = self.running.of_mut(request.phase) else {
            return Err(Error::new(ErrorCode::Internal, "nothing was kept"));
        };
        let mark = StepMark { step: step.clone(), sections: running.sections.len(), left: running.left.len() };
        running.marks.push(mark.clone());
        self.last_work = work;
        let messages = messages.map(|messages| {
            // What the caller has is known by how much was handed out.
            let keep = if request.handed_out == handed_out { messages.keep } else { 0 };
            let mut messages =
                if keep == messages.keep { messages } else { self.whole(request.phase, writer, messages) };
            if keep == 0 && messages.system.is_none() {
                // What goes beside them was handed out with messages of which none stayed.
                let written = self.running.of(request.phase).and_then(|running| running.written.as_ref());
                messages.system = written.and_then(|written| written.system.clone());
            }
            messages
        });
        let sources = self.sources();
        let running =
            self.running.of(request.phase).ok_or_else(|| Error::new(ErrorCode::Internal, "nothing was kept"))?;
        let pack = (request.explain || messages.is_none()).then(|| {
            let mut whole = record::record(&sources, running, &mark, request.phase);
            whole.stats.calibration.clone_from(&calibration);
            if request.explain {
                let standing = || record::explanation(&sources, running, request, &whole.stats);
                whole.explanation = Some(explanation.unwrap_or_else(standing));
            }
            whole
        });
        let mut stats = pack.as_ref().map_or_else(
            || {
                let mut stats = record::stats(&sources, running, &mark);
                stats.calibration.clone_from(&calibration);
                stats
            },
            |pack| pack.stats.clone(),
        );
        self.answers.settle(self.events.len());
        request.shorten(&mut stats);
        self.count_build(&events, stats.dropped_count, Some(&stats));
        Ok(Outcome::Done(FinishedStep { step, stats, pack, messages, tokens, events }))
    }

    /// Writes all messages of a step whose first ones the caller does not have.
    fn whole(&self, phase: Phase, writer: &dyn PromptWriter, messages: RunningMessages) -> RunningMessages {
        let Some(running) = self.running.of(phase) else { return messages };
        let frame = WriterFrame { header: &running.header, ledger: running.ledger.as_ref(), footer: &running.footer };
        let sections: Vec<&RunningSection> = running.sections.iter().collect();
        match writer.write(&self.sources(), &frame, &sections, &WrittenSections::default()) {
            Ok(WrittenPrompt::Messages(step)) => {
                RunningMessages { keep: 0, messages: step.messages, system: step.system, warnings: messages.warnings }
            }
            _ => messages,
        }
    }

    /// Makes a running prompt of a snapshot what it was: the texts that the store has. It stays asleep while labels are asked for.
    fn wake(&mut self, phase: Phase) {
        let Some(mut running) = self.running.take_asleep(phase) else { return };
        let mut broken = running.broken.or_else(|| self.is_withheld_now(&running).then_some(CutReason::Edited));
        if self.answers.is_waiting() {
            self.running.put_back(phase, running);
            return;
        }
        for section in &mut running.sections {
            let Some(item) = self.events.items().get(section.at) else {
                broken = Some(CutReason::Restored);
                break;
            };
            let indexed = self.index.entry(section.at);
            if section.is_stored {
                let Some(text) = indexed.stored_text(item, &self.artifacts, &self.options) else {
                    broken = Some(CutReason::Restored);
                    break;
                };
                section.content = EntryContent::Quote { text: text.into_owned(), note: None };
            }
            section.weigh(&self.sources());
        }
        running.broken = broken;
        running.changes = self.events.changes();
        self.running.put_awake(phase, running);
    }

    /// Tells whether a running prompt of a snapshot says what may not be told: by other options than it was made with, or where
    /// labels were raised.
    fn is_withheld_now(&self, running: &RunningPrompt) -> bool {
        let items = self.events.items();
        let may_tell = |at: usize| {
            items.get(at).is_none_or(|item| {
                classified(item, &self.options, &self.answers) < self.options.policy.sensitivity_floor
            })
        };
        let is_clean = |text: &str| matches!(self.options.mask_secrets(text), Cow::Borrowed(_));
        let is_redacting = self.options.policy.sensitivity_action == SensitivityAction::Redact;
        // Each is judged, so that all questions are asked at once.
        let withheld = running.sections.iter().filter(|section| match &section.content {
            EntryContent::Redacted(text) => !is_redacting || !is_clean(text),
            EntryContent::Quote { text, .. } => !may_tell(section.at) || !is_clean(text),
            EntryContent::Own => !may_tell(section.at),
        });
        let is_shown = withheld.count() > 0;
        let is_named = running.ledger.as_ref().is_some_and(|ledger| {
            ledger.homes.iter().filter(|at| !may_tell(**at)).count() > 0 || !is_clean(&ledger.text)
        });
        // What left may come back.
        let is_left = running.left.iter().filter(|left| left.is_hidden() && !may_tell(left.at)).count() > 0;
        is_shown || is_named || is_left
    }

    /// Compiles a text prompt that goes on with the one before.
    pub(crate) fn run_text(&mut self, request: &BuildRequest) -> Result<Outcome<BuildOutput>> {
        Ok(match self.run(request, &TextWriter)? {
            Outcome::Need(needs) => Outcome::Need(needs),
            Outcome::Done(FinishedStep { pack, events, .. }) => {
                let pack = pack.ok_or_else(|| Error::new(ErrorCode::Internal, "a text without its record"))?;
                Outcome::Done(BuildOutput { pack, events })
            }
        })
    }

    /// Returns the record of a step of a running prompt, since the cut before the last.
    ///
    /// # Errors
    /// `NOT_FOUND` at `/step` for a step before, or one that there was not.
    pub fn running_record(&mut self, phase: Phase, step: u64) -> Result<ContextPack> {
        self.refresh_index();
        let found = self
            .running
            .recorded(phase)
            .find_map(|running| Some((running, running.marks.iter().find(|mark| mark.step.step == step)?)));
        let Some((running, mark)) = found else {
            let message = format!("the record of step {step} is not kept any more");
            return Err(Error::new(ErrorCode::NotFound, message)
                .at("/step")
                .hint("read it before the prompt is cut a second time"));
        };
        Ok(record::record(&self.sources(), running, mark, phase))
    }

    /// Returns what the steps of all running prompts cost, and would have cost without.
    ///
    /// ```
    /// use contextweaver_context::{ContextManager, ManagerOptions};
    ///
    /// assert_eq!(ContextManager::new(ManagerOptions::default()).costs().steps, 0);
    /// ```
    pub fn costs(&self) -> RunningCosts {
        let mut costs = RunningCosts::default();
        self.running.all().for_each(|(_, running)| costs.add(&running.account.costs));
        costs
    }
}
