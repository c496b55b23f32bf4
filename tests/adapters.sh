#!/bin/sh
# Tests every adapter against its real package, each in a virtual environment of its own: their requirements exclude each
# other. What cannot be installed here is skipped, and named. Fails if a test does.
#   adapters.sh PYTHON FOLDER [NAME...]
python=$1 folder=$2
shift 2
torch=${TORCH:-torch==2.13.0}
failed=0

adapter() {  # name, what pip installs
  name=$1
  shift
  bin=$folder/$name/bin
  [ -x "$bin/python" ] || "$python" -m venv "$folder/$name" || exit 1
  if ! "$bin/python" -m pip install --quiet --editable . pytest pytest-xdist hypothesis udtools "$@" >"$folder/$name.log" 2>&1; then
    echo "$name: skipped, it cannot be installed here ($folder/$name.log)"
  elif "$bin/python" -m pytest -q -p no:cacheprovider tests/io/test_parser_adapters.py >"$folder/$name.log" 2>&1; then
    echo "$name: $(tail -n 1 "$folder/$name.log")"
  else
    cat "$folder/$name.log"
    echo "$name: failed"
    failed=1
  fi
}

mkdir -p "$folder"
for wanted in ${*:-natasha stanza supar hanlp spacy spacy-experimental}; do
  case $wanted in
    natasha) adapter natasha natasha ;;
    stanza) adapter stanza "$torch" stanza ;;
    supar) adapter supar "$torch" supar ;;
    hanlp) adapter hanlp "$torch" hanlp ;;
    spacy) adapter spacy "$torch" 'spacy>=4.0.0.dev1,<4.1' spacy-biaffine-parser 'numpy<2' ;;
    spacy-experimental) adapter spacy-experimental "$torch" spacy-experimental ;;
    *) echo "$wanted: no such adapter" >&2; exit 2 ;;
  esac
done
exit $failed
