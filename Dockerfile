# The course in a container, compiled, for one person:
#     docker build -t lib2048 .
#     docker run --rm -p 127.0.0.1:8888:8888 -v lib2048:/home/student lib2048
# Open the address that it prints.  What you write stays in the volume `lib2048`.
# For a class see docs/hub.md.
FROM python:3.12-slim

# For pip, such as an index of torch's builds for processors alone: they take 3 GB less.
ARG PIP_OPTIONS=""

WORKDIR /srv/course
COPY . .
RUN pip install --no-cache-dir $PIP_OPTIONS -e ".[course,deep]"

# Everything is compiled once, by running every lesson at its smallest budget.
ENV LIB2048_COMPILED=/srv/compiled
RUN LIB2048_QUICK=1 NUMBA_CACHE_DIR=/srv/compiled jupyter nbconvert --to notebook --execute \
        --output-dir /tmp/run notebooks/*.ipynb && rm -r /tmp/run

# The lessons, the library and what is compiled belong to root; a student writes at home alone.
RUN useradd --create-home student
USER student
ENV LIB2048_MY=/home/student/my
# A kernel ends with its tab.
ENV JUPYTER_CONFIG_PATH=/srv/course/lib2048/course/reader/jupyter
EXPOSE 8888
CMD ["sh", "-c", "lib2048 lessons update && cd && exec jupyter lab --ip=0.0.0.0 --no-browser --LabApp.default_url=/lab/tree/my/00_start_here.ipynb"]
