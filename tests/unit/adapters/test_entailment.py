import importlib.util
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from monitor.adapters.entailment import LocalEntailment
from monitor.domain.errors import ConfigError
from tests.unit.service.fakes import Inline

pytestmark = pytest.mark.slow

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "yes", "no", "perhaps")
LABELS = {0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"}
TURNED = [{place: LABELS[(place + turn) % 3] for place in LABELS} for turn in range(3)]
PAIRS = [(one, other) for one in WORDS[4:] for other in WORDS[4:]]

Save = Callable[[Mapping[int, str]], str]


@pytest.fixture(scope="module")
def save(tmp_path_factory: pytest.TempPathFactory) -> Save:
    """Writes one small random model, under other names for its labels each time."""
    import torch  # noqa: PLC0415 - slow to import
    import transformers  # noqa: PLC0415 - slow to import

    vocabulary = {word: number for number, word in enumerate(WORDS)}
    tokenizer = transformers.BertTokenizer(vocab=vocabulary, model_max_length=16)
    config = transformers.BertConfig(
        vocab_size=len(WORDS),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=8,
        max_position_embeddings=16,
        num_labels=len(LABELS),
        initializer_range=2.0,
    )
    with torch.random.fork_rng():
        torch.random.manual_seed(1)
        model = transformers.BertForSequenceClassification(config)

    def to(labels: Mapping[int, str]) -> str:
        folder = tmp_path_factory.mktemp("model")
        model.config.id2label = dict(labels)
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        return str(folder)

    return to


async def verdicts(model: str, pairs: list[tuple[str, str]]) -> list[bool]:
    opened = await LocalEntailment.open(model, compute=Inline(), device="cpu")
    return list(await opened.entails(pairs))


async def test_the_label_counts_and_not_its_place(save: Save) -> None:
    """One of three labels is given to each pair, so each pair is entailed under one naming."""
    found = [await verdicts(save(labels), PAIRS) for labels in TURNED]
    assert [sum(each) for each in zip(*found, strict=True)] == [1] * len(PAIRS)
    assert len({tuple(each) for each in found}) > 1


async def test_pairs_in_one_batch_are_judged_as_alone(save: Save) -> None:
    model = save(LABELS)
    alone = [(await verdicts(model, [pair]))[0] for pair in PAIRS]
    long = ("yes no " * 50, "perhaps")
    assert (await verdicts(model, [*PAIRS * 8, long]))[:-1] == alone * 8


async def test_of_what_is_too_long_the_end_is_read(save: Save) -> None:
    """The answers, which stand behind a question that alone is too long."""
    question = "yes no " * 20
    pairs = [(question + 6 * f" {one}", question + 6 * f" {other}") for one, other in PAIRS]
    found = [await verdicts(save(labels), pairs) for labels in TURNED]
    assert any(len(set(each)) > 1 for each in found)


async def test_a_tokenizer_that_knows_no_limit_has_that_of_the_model(save: Save) -> None:
    folder = Path(save(LABELS))
    config = folder / "tokenizer_config.json"
    fields = json.loads(config.read_text())
    del fields["model_max_length"]
    config.write_text(json.dumps(fields))
    assert len(await verdicts(str(folder), [("yes " * 50, "no"), ("yes", "no " * 50)])) == 2


async def test_damaged_weights_are_refused(save: Save) -> None:
    folder = Path(save(LABELS))
    (folder / "model.safetensors").write_bytes(b"damaged" * 9)
    with pytest.raises(ConfigError, match=r"cannot be loaded.*header too large"):
        await verdicts(str(folder), PAIRS)


async def test_a_model_of_something_else_is_refused(save: Save) -> None:
    model = save({0: "POSITIVE", 1: "NEGATIVE", 2: "MIXED"})
    with pytest.raises(ConfigError, match="no label entailment: POSITIVE, NEGATIVE, MIXED"):
        await verdicts(model, PAIRS)


async def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot be loaded.*sequence classification model"):
        await verdicts(str(tmp_path), PAIRS)


async def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def find_spec(name: str, *_: Any) -> None:  # noqa: ANN401 - of the library
        assert name == "transformers"

    monkeypatch.setattr(importlib.util, "find_spec", find_spec)
    with pytest.raises(ConfigError, match=r"pip install 'model-variant-monitor\[entailment\]'"):
        await LocalEntailment.open("any", compute=Inline())
