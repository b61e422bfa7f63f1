"""What people touch: a game to play, recorded games, training to watch, searches to open.

Boards live in the browser (`game.js` and its neighbours, no build step) and need no kernel to play;
`play.py` and `replay.py` follow them.  Training (`train.py`) happens in the kernel, and the browser
draws its curves.  Each widget is a class here and a module of JavaScript of its name; figures that
only lessons explore are in `lib2048.course.explorers`, made in the same way.

Where there are no widgets (GitHub, the book) a picture stands for each: that is its `static()`, and
every output carries it along.
"""
