"""A run that is tested by one game, whose mean has no interval, goes on as any other."""

from lib2048.cli import main


def test_a_run_with_one_test_game_goes_on_and_is_folded(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    tested = ["--eval-every", "1000", "--eval-games", "1", "--eval-depth", "2"]
    begin = ["train", "--network", "4-22-3", "--actions", "2000", "--eval-deep-games", "1"]
    main([*begin, *tested, "--out", "run"])
    main(["train", "--resume", "--out", "run", "--actions", "3000"])
    main(["fold", "run", "folded.npz"])
    assert (tmp_path / "folded.npz").exists() and "grew" not in capsys.readouterr().err
