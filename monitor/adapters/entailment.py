"""Entailment by a language inference model that runs here; needs the extra `entailment`.

The model's files are safetensors, and no code that comes with them is run.
"""

import importlib.util
from collections.abc import Sequence
from functools import partial
from typing import Any, Self

from monitor.domain.errors import ConfigError, Problem
from monitor.ports import Compute
from monitor.stats import tensors

WHERE = "entailment model"
WANTED = "entailment"
PADDING = 2  # positions that models of the RoBERTa family count, and cannot use
BATCH = 32  # pairs; beyond it a GPU gains little, and memory grows


class LocalEntailment:
    """Implements `ports.Entailment`."""

    def __init__(self, classify: Any, compute: Compute) -> None:  # noqa: ANN401 - a pipeline
        """Use a pipeline that names one label for each pair; see `open`."""
        self._classify = classify
        self._compute = compute

    @classmethod
    async def open(cls, model: str, *, compute: Compute, device: str = "auto") -> Self:
        """Load a model, which takes a while.

        Args:
            model: name or folder of a sequence classification model, one of whose labels is called
                entailment, such as one trained on MNLI.
            compute: where it runs.
            device: auto, cpu, cuda or cuda:N.

        Raises:
            ConfigError: the extra is not installed, or the model cannot be used.
        """
        if importlib.util.find_spec("transformers") is None:
            what = "the package transformers is not installed"
            todo = "pip install 'model-variant-monitor[entailment]', or choose another clustering"
            raise ConfigError([Problem(where=WHERE, what=what, todo=todo)])
        return cls(await compute.run(partial(_load, model, device)), compute)

    async def entails(self, pairs: Sequence[tuple[str, str]]) -> Sequence[bool]:
        """Whether in each pair the first text entails the second; of long ones the end is read."""
        return await self._compute.run(partial(self._entails, pairs))

    def _entails(self, pairs: Sequence[tuple[str, str]]) -> Sequence[bool]:
        asked = [{"text": premise, "text_pair": hypothesis} for premise, hypothesis in pairs]
        found = self._classify(asked, batch_size=BATCH, truncation=True)
        return [each["label"].lower() == WANTED for each in found]


def _load(model: str, device: str) -> Any:  # noqa: ANN401 - a pipeline
    import safetensors  # noqa: PLC0415 - of the extra
    import transformers  # noqa: PLC0415 - an extra, and slow to import

    try:
        classify = transformers.pipeline(
            "text-classification",
            model=model,
            device=tensors.device(device),
            trust_remote_code=False,
            model_kwargs={"use_safetensors": True},
        )
    except (ImportError, OSError, ValueError, safetensors.SafetensorError) as error:
        what = f"{model!r} cannot be loaded: {' '.join(str(error).split())[:300]}"
        todo = "give the folder of a sequence classification model with its tokenizer"
        raise ConfigError([Problem(where=WHERE, what=what, todo=todo)]) from error
    labels = classify.model.config.id2label.values()
    if WANTED not in {label.lower() for label in labels}:
        what = f"{model!r} has no label {WANTED}: {', '.join(labels)}"
        todo = "choose a model of language inference, and see that its config names its labels"
        raise ConfigError([Problem(where=WHERE, what=what, todo=todo)])
    _keep_ends(classify.tokenizer, classify.model.config)
    return classify


def _keep_ends(tokenizer: Any, config: Any) -> None:  # noqa: ANN401 - of the library
    """Of a long text the end is read: without their answers, all of them would be the same."""
    tokenizer.truncation_side = "left"
    longest = getattr(config, "max_position_embeddings", tokenizer.model_max_length)
    if tokenizer.model_max_length > longest:
        tokenizer.model_max_length = longest - PADDING
