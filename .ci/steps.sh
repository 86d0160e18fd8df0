# Steps of a gate: each is timed, and what it says is kept, so that the end can show a table of seconds and the closing
# lines of the test runners. Sourced by run and nightly, which set keep_going.

# A clone that belongs to another user is no reason to fail: git refuses to describe it, and nothing here needs that.
export GOFLAGS="${GOFLAGS:-} -buildvcs=false"

keep_going=${keep_going:-}
outputs="$(mktemp -d)"
trap 'rm -rf "$outputs"' EXIT
names=() results=() taken=()

# step NAME COMMAND... runs a command. A gate ends with the first step that fails, unless keep_going is set.
step() {
  local name=$1 begun=$SECONDS result=ok
  shift
  printf '\n=== %s\n' "$name"
  # Not in a condition: bash ignores errexit there, within functions too.
  set +e
  (set -e; "$@") </dev/null 2>&1 | tee "$outputs/${#names[@]}"
  ((PIPESTATUS[0] == 0)) || result=FAILED
  set -e
  names+=("$name") results+=("$result") taken+=($((SECONDS - begun)))
  if [[ $result != ok && -z $keep_going ]]; then
    table
    exit 1
  fi
}

# leave_out NAME notes a step that does not run, so that the table says so.
leave_out() { names+=("$1") results+=("not run: unchanged since the last nightly run") taken+=(0); }

# table prints the steps that have run.
table() {
  local i
  printf '\n%-52s %7s\n' step seconds
  for i in "${!names[@]}"; do
    printf '%-52s %7d%s\n' "${names[i]}" "${taken[i]}" "$([[ ${results[i]} == ok ]] || echo "  ${results[i]}")"
  done
  printf '%-52s %7d\n' all "$SECONDS"
}

# closing prints the lines with which the test runners closed, and any repetition of a test.
closing() {
  local i
  for i in "${!names[@]}"; do
    [[ -e "$outputs/$i" ]] || continue # it did not run
    grep -hE '^(ok|FAIL|---) |^(ok|FAIL)[[:space:]]|^[#ℹ] (tests|pass|fail|cancelled|skipped) |^repeated: |packages under Wine' \
      "$outputs/$i" >"$outputs/closing" || continue
    printf '\n--- %s\n' "${names[i]}"
    cat "$outputs/closing"
  done
}
