"""One evaluation from the event that asks for it to its published result."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from monitor.domain.errors import InvalidPlan, StateError
from monitor.domain.events import EvaluationWanted
from monitor.domain.facts import EvaluationEnded, EvaluationFailed
from monitor.domain.identifiers import EvaluationId
from monitor.domain.plans import Plan, Planned, Subject
from monitor.domain.results import (
    Baseline,
    Findings,
    NoBaseline,
    NoEstimateReason,
    Outcome,
    Reason,
    SpendLine,
    Verdict,
)
from monitor.domain.suites import Suite
from monitor.engine import concluding, evaluations, planning
from monitor.ports import Archive, Commit, Entry
from monitor.service import baselines, judging, publishing
from monitor.service.catalog import Catalog, Target
from monitor.service.evaluating import Course, Drain, Halt
from monitor.service.journals import Journal
from monitor.service.tools import Tools
from monitor.settings import TopicSettings
from monitor.stats import guides
from monitor.wire import outcomes, results

ATTEMPTS_AFTER_A_DEFECT = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What every job of the process shares.

    bought: what was paid for surrogates' answers, by the evaluation that it was paid for.
    """

    tools: Tools
    catalog: Catalog
    archive: Archive
    topics: TopicSettings
    source: str
    software: str
    record_limit: int
    bought: Mapping[EvaluationId, SpendLine] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What one job has to do; `entries` is its stored journal, empty for a new one."""

    subject: Subject
    event: EvaluationWanted
    suite: Suite
    target: Target
    entries: Sequence[Entry]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What to commit when a job has come to its end, and what to tell of it after that."""

    commit: Commit
    fact: EvaluationEnded


class Job:
    """One evaluation under way or waiting for its turn."""

    def __init__(self, surroundings: Surroundings, assignment: Assignment) -> None:
        self._around = surroundings
        self._tools = surroundings.tools
        self._wanted = assignment
        self._journal = Journal(surroundings.tools.bus, assignment.subject, assignment.entries)
        self._judges = surroundings.catalog.judges(assignment.subject.suite)
        self._created = surroundings.tools.clock.now()
        self._halt: asyncio.Future[Halt] = asyncio.get_running_loop().create_future()

    @property
    def subject(self) -> Subject:
        """Who is evaluated on what."""
        return self._wanted.subject

    @property
    def is_begun(self) -> bool:
        """Whether it has a plan, made here or by an earlier owner."""
        return self._journal.plan is not None

    def stop(self, halt: Halt) -> None:
        """Ask the job to end; the first request counts."""
        if not self._halt.done():
            self._halt.set_result(halt)

    async def run(self) -> Ending | None:
        """How it ended, or None where it stays open for later.

        Raises:
            OwnershipLost: somebody else goes on with it.
            StateError: the store failed.
        """
        for attempt in range(ATTEMPTS_AFTER_A_DEFECT):
            try:
                findings = await self._find()
                return None if findings is None else self._publish(findings)
            except StateError:
                raise
            except InvalidPlan as error:
                text = f"It cannot be planned: {error}."
                return self._give_up(_fault(Reason.INVALID_PLAN, text))
            except Exception as error:  # noqa: BLE001 - one evaluation must not end the others
                self._tell_of(error)
                await self._tools.clock.sleep(2.0**attempt)
        text = f"The evaluation failed {ATTEMPTS_AFTER_A_DEFECT} times on a defect; see the log."
        return self._give_up(_fault(Reason.INTERNAL_ERROR, text))

    async def _find(self) -> Findings | None:
        """Findings of the evaluation, or None where it is to stay open."""
        halt = self._halt.result() if self._halt.done() else None
        if isinstance(halt, Drain):
            return None
        if halt is not None and not self.is_begun:
            return concluding.stop(halt.verdict, reason=NoEstimateReason.NOT_STARTED)
        planned = self._journal.plan
        changed = None if planned is None else self._changed(planned.plan)
        if changed is not None:
            return changed
        begun = await (self._plan() if planned is None else self._take_up(planned.plan))
        course = Course(
            self._tools,
            self._wanted.target,
            judges=self._judges,
            journal=self._journal,
            halt=self._halt,
        )
        return await course.run(begun)

    async def _plan(self) -> evaluations.Evaluation:
        wanted, around = self._wanted, self._around
        policy = planning.apply_wishes(
            around.catalog.policy(wanted.subject.variant, wanted.subject.suite), wanted.event
        )
        request = planning.PlanRequest(
            subject=wanted.subject,
            policy=policy,
            suite=wanted.suite,
            history=await self._history(),
            baseline=await self._baseline(policy.level),
            software=around.software,
            signal=await self._signal(),
            surrogates=around.catalog.surrogates(wanted.subject.suite),
            judges=self._panel,
        )
        plan, guide = await self._tools.compute.run(lambda: planning.plan(request))
        outcomes.check_size(plan, limit=self._around.record_limit)
        begun = await self._begin(plan, guide)
        await self._journal.append(Planned(plan=plan, at=self._tools.clock.now()))
        return begun

    def _changed(self, plan: Plan) -> Findings | None:
        """What a stored plan comes to if it cannot be gone on with."""
        if plan.subject.suite_digest != self._wanted.suite.digest:
            text = "The suite has changed since the evaluation was planned."
            return _fault(Reason.SUITE_CHANGED, text)
        if plan.judges != self._panel:
            text = "Other models judge the answers than when the evaluation was planned."
            return _fault(Reason.JUDGES_CHANGED, text)
        return None

    @property
    def _panel(self) -> tuple[str, ...]:
        """Models that judge the answers."""
        return tuple(sorted(judge.target.model for judge in self._judges))

    async def _take_up(self, plan: Plan) -> evaluations.Evaluation:
        """The evaluation as its stored plan began it."""
        guide = planning.guide_named(
            plan.inference.guide,
            suite=self._wanted.suite,
            history=await self._history(),
            signal=await self._signal(),
        )
        return await self._begin(plan, guide)

    async def _begin(self, plan: Plan, guide: guides.Guide) -> evaluations.Evaluation:
        suite = self._wanted.suite
        return await self._tools.compute.run(
            lambda: evaluations.begin(plan, suite=suite, guide=guide)
        )

    async def _history(self) -> planning.History | None:
        return await self._around.catalog.history(self.subject.suite, self._wanted.target.model)

    async def _signal(self) -> planning.Surrogate | None:
        return await self._around.catalog.signal(self.subject.suite)

    async def _baseline(self, level: float) -> Baseline | NoBaseline:
        recent = await self._around.archive.recent(
            self.subject.variant, self.subject.suite, limit=baselines.LOOK_BACK
        )
        wanted = baselines.Comparison(
            version=self.subject.version,
            previous_version=self._wanted.event.previous_version,
            suite_digest=self.subject.suite_digest,
            judges=self._panel,
            level=level,
        )
        return baselines.choose([results.decode(each.result) for each in recent], wanted)

    def _publish(self, findings: Findings) -> Ending:
        around, ended = self._around, self._tools.clock.now()
        planned = self._journal.plan
        publication = publishing.Publication(
            subject=self.subject,
            journal=self._journal,
            findings=findings,
            spend=publishing.spend_of(
                self._journal,
                self._wanted.target.price,
                judges=self._judges,
                surrogates=around.bought.get(self.subject.evaluation_id),
            ),
            judging=judging.figures(self._judges, self._journal.answers),
            times=publishing.times_of(planned.at if planned else self._created, ended),
            software=around.software,
        )
        fact = EvaluationEnded(
            evaluation_id=self.subject.evaluation_id,
            variant=self.subject.variant,
            version=self.subject.version,
            suite=self.subject.suite,
            findings=findings,
            spend=publication.spend,
            plan=planned.plan if planned else None,
            at=ended,
            seconds=publication.times.seconds,
        )
        commit = publishing.publish(
            publication,
            topics=around.topics,
            source=around.source,
            record_limit=around.record_limit,
        )
        return Ending(commit=commit, fact=fact)

    def _give_up(self, findings: Findings) -> Ending | None:
        """Publish a fault; where even that fails, leave the evaluation open for a later version."""
        try:
            return self._publish(findings)
        except Exception as error:  # noqa: BLE001 - as in `run`
            self._tell_of(error)
            return None

    def _tell_of(self, error: Exception) -> None:
        self._tools.telemetry.record(
            EvaluationFailed(evaluation_id=self.subject.evaluation_id, detail=repr(error))
        )


def _fault(reason: Reason, sentence: str) -> Findings:
    return concluding.stop(Verdict(outcome=Outcome.FAULTED, reason=reason, sentence=sentence))
