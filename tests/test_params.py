"""params.yaml: what ships is right, and each kind of mistake is named."""

from pathlib import Path

import pytest
import yaml

from hexdata.generate import check_games
from hexdata.openings import all_openings, parse_scheme
from hexdata.params import BadParams, read_campaign, read_params

SHIPPED = Path(__file__).parent.parent / "params.yaml"


def test_the_shipped_campaigns() -> None:
    params = read_params(SHIPPED)
    assert params.active == ["hex6"]
    assert {name: campaign.size for name, campaign in params.campaigns.items()} == {
        "hex5": 5,
        "hex6": 6,
        "hex8": 8,
        "hex9": 9,
        "hex13": 13,
        "d8": 8,
        "d8_hundredth": 8,
        "d9": 9,
        "d13": 13,
    }


def test_the_recipes_of_the_thesis() -> None:
    """gao-2020 section 6, and daliri-2022 for the openings' count."""
    campaigns = read_params(SHIPPED).campaigns
    games = {name: campaign.games.shards * campaign.games.per_shard for name, campaign in campaigns.items()}
    assert 62_853 <= games["d8"] < 62_853 + 200
    assert games["d8_hundredth"] == 630
    assert games["d13"] == 15_520
    eight, small = campaigns["d8"].games, campaigns["d8_hundredth"].games
    assert len(all_openings(parse_scheme(eight.openings), 8)) == 64 + 4_032
    assert small.model_dump(exclude={"shards", "per_shard", "player"}) == eight.model_dump(
        exclude={"shards", "per_shard", "player"}
    )
    assert [name.partition(":")[0] for name in small.players] == [name.partition(":")[0] for name in eight.players]
    for campaign in campaigns.values():
        check_games(campaign.size, campaign.games)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("active: [hex6]", "active: []", "active: list should have at least 1 item"),
        ("active: [hex6]", "active: [hex7]", "active names 'hex7', which is no campaign"),
        ("active: [hex6]", "active: [hex6, hex6]", "active names a campaign twice"),
        ("per_shard:", "per_shrad:", r"campaigns.hex5.games.per_shrad: there is no parameter of this name"),
        ("epochs: 2", "epochs: -2", "campaigns.hex5.train.epochs: input should be greater than 0, not -2"),
        ("epochs: 2", "epochs: 2.5", "campaigns.hex5.train.epochs: input should be a valid integer"),
        ("size: 5", "size: 1", "campaigns.hex5.size: input should be greater than or equal to 2, not 1"),
        ("size: 5", "size: 20", "campaigns.hex5.size: input should be less than or equal to 19, not 20"),
        ("size: 5", "size: 3", "suite.max_stones must be less than the 9 cells"),
        ("validation: 0.1", "validation: 0.9", "validation and test must leave something for training"),
        ("campaigns:", "campaigns: [", "not YAML"),
        ("openings: one-stone", "openings: 2024-99-99", r"not YAML \(month must be in 1..12"),
        ("openings: one-stone", "openings: four-stone", "campaigns.hex5.games.openings: unknown openings 'four-stone'"),
        ("temperature: 1.0", "temperature: .inf", "games.temperature: input should be a finite number, not inf"),
        (
            "learning_rate: 0.002",
            "learning_rate: .nan",
            "train.learning_rate: input should be a finite number, not nan",
        ),
        ("dither_moves: 6", "dither_moves: 99999999999999", "games.dither_moves: input should be less than 2147483648"),
        (
            "seed: 5}",
            f"seed: 5, end_nodes: {10**20}}}",
            "games.end_nodes: input should be less than 9223372036854775808",
        ),
        ("    size: 5\n", "    size: 5\n    size: 6\n", "line 7: size is given twice"),
        ("shards: 2, per", "shards: 1, shards: 2, per", "line 7: shards is given twice"),
        ('player: "uct:playouts=60-100"', "player: [random, random]", "player names one of them twice"),
        (
            "    examples: {prove_from_ply: 8, prove_limit_nodes: 100}\n",
            "",
            "campaigns.hex5: examples are missing: expected `examples: {}` at least, which DVC looks for",
        ),
    ],
)
def test_mistakes_are_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = SHIPPED.read_text()
    assert old in text
    (tmp_path / "params.yaml").write_text(text.replace(old, new, 1))
    with pytest.raises(BadParams, match=message) as caught:
        read_params(tmp_path / "params.yaml")
    assert str(tmp_path / "params.yaml") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "params.yaml"
    path.mkdir()
    with pytest.raises(BadParams, match=r"params.yaml: not a readable text in UTF-8 \(.*Is a directory"):
        read_params(path)
    path.rmdir()
    path.write_bytes("# café\n".encode("latin-1") + SHIPPED.read_bytes())
    with pytest.raises(BadParams, match=r"params.yaml: not a readable text in UTF-8 \(.*byte 0xe9"):
        read_params(path)


def test_an_unknown_campaign_and_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(BadParams, match="no campaign 'hex4': expected one of hex5"):
        read_campaign("hex4", SHIPPED)
    with pytest.raises(BadParams, match="no such file"):
        read_params(tmp_path / "params.yaml")


def test_every_campaign_names_what_its_stages_depend_on() -> None:
    """DVC cannot depend on a section that the model would fill in."""
    campaigns = yaml.safe_load(SHIPPED.read_text())["campaigns"]
    for name, campaign in campaigns.items():
        assert {"size", "games", "examples", "dataset", "suite", "train"} <= campaign.keys(), name
