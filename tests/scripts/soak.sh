#!/usr/bin/env bash
# Looks for what is rare, for hours: all tests of random input at length, every power cut of the crash tests, kills and the
# mount under load with the race detector in the binary, clients of servers on a bad network, and the fuzz targets.
#
#   soak.sh [WORD]   only the jobs with this word in their line, such as a test's name
#   SOAKTIME         how many seconds in all (default 14400)
#   SLICE            how many of them a job has before the next one's turn (default 300)
#   SOAKDIR          where its place and its findings are kept (default dist/soak)
#   RELAYFS_KILLS    how many kills a turn makes (default 300)
#
# Stopped, it goes on later with the job at which it was. After a finding it goes on with new seeds. A finding is a file
# with the seed and the command that repeats it, and the smallest case beside it. At the end they are listed.
set -euo pipefail
cd "$(dirname "$0")/../.."

SLICE=${SLICE:-300}
dir=${SOAKDIR:-dist/soak}
mkdir -p "$dir/findings"
dir=$(cd "$dir" && pwd)
place=$dir/place # the next job, and the seconds that are left
work=$(mktemp -d "${TMPDIR:-/tmp}/relayfs-soak.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'echo "soak: stopped; make soak goes on" >&2; exit 130' INT TERM
export GOFLAGS=${GOFLAGS--trimpath} RELAYFS_TESTS=all RELAYFS_FINDINGS=$dir/findings RELAYFS_KILLS=${RELAYFS_KILLS:-300}

# jobs prints KIND PACKAGE TEST, a line for each. Tests of random input are those that call randomtest.Check, those of
# hostile input call need.Linear, and fuzz targets are found by their names.
jobs() {
	git ls-files -z '*_test.go' | xargs -0 awk '
		FNR == 1 { dir = FILENAME; sub("/[^/]*$", "", dir) }
		/^func / { name = $2; sub(/\(.*/, "", name) }
		/[^a-z]randomtest\.Check\(/ && name ~ /^Test/ { print "random ./" dir, name }
		/need\.Linear/ && name ~ /^Test/ { print "soak ./" dir, name }
		/^func Fuzz/ { print "fuzz ./" dir, name }' | grep -v ' ./tests/randomtest ' | sort -u
	echo 'soak ./bridge/remote TestChaos'
	echo 'soak ./fusefs TestFreshNoteRenamedOver'
	echo 'soak ./tests/crash TestSoak'
	echo 'soak ./tests/mcp Test(MCPGrepEqualsRipgrepOnDocs|HTTPManySessions)'
	echo 'soak ./tests/page TestReviewPageIsAccessible'
	echo 'soak ./tests/save TestRemovedStaysRemoved'
	echo 'soak ./tests/servers Test(ReadsAreNotTorn|WritesBesideTyping|ServerManyNotes)'
	echo 'soak ./bridge/crashtest Test(Every|TwoNotes)'
	echo 'once ./tests/... Kill|Between|Twice|Whole|Vanished|Shutdown'
}

# run KIND PACKAGE TEST SECONDS: a turn of one job. Jobs that look at all there is, or make a number of kills, may take longer.
run() {
	local flags=(-count=1 -v -timeout "$(($4 + 7200))s")
	case $1 in
	random) RELAYFS_SOAK=$4s go test "${flags[@]}" -run "^$3\$" "$2" ;;
	fuzz) go test -run '^$' -fuzz "^$3\$" -fuzztime "$4s" "$2" ;;
	soak) RELAYFS_RACE=1 RELAYFS_SOAK=$4s go test "${flags[@]}" -run "^$3" "$2" ;;
	once) RELAYFS_RACE=1 go test "${flags[@]}" -run "$3" "$2" ;;
	esac
}

# found TEST prints how many findings there are.
found() { find "$dir/findings" -name "${1//[^A-Za-z]/-}-*.txt" | wc -l; }

# keep JOB: what the job said, and what Go wrote beside the tests: left there, it would fail at once each time.
keep() {
	local name=$dir/findings/${3//[^A-Za-z]/-}-$(date +%s)
	local package=${2#./} file
	{
		printf '%s\n\n' "$*"
		grep -vE '^=== |^--- PASS|^fuzz: elapsed' "$work/log" | tail -n 2000
	} >"$name.txt"
	for file in $(git ls-files --others "$package/testdata/fuzz"); do
		if [[ $file -nt $work/start ]]; then mv "$file" "$name-${file##*/}"; fi
	done
	echo "soak: $1 $2 $3 failed: $name.txt" >&2
}

mapfile -t all < <(jobs | grep -F -- "${1-}")
((${#all[@]})) || { echo "soak: no job has $1 in its line" >&2; exit 2; }
next='' left=${SOAKTIME:-14400}
if [[ -f $place ]]; then
	{ read -r left; read -r next; } <"$place"
	echo "soak: goes on with $next, $left s are left; remove $place to begin again"
fi
i=0
for k in "${!all[@]}"; do if [[ ${all[k]} == "$next" ]]; then i=$k; fi; done

# Of a job with so many findings no more are looked for.
most=5
idle=0 # jobs in a row that had no turn
while ((left > 0 && idle < ${#all[@]})); do
	job=${all[i % ${#all[@]}]}
	printf '%s\n%s\n' "$left" "$job" >"$place"
	read -r kind package test <<<"$job"
	begun=$SECONDS
	idle=$((idle + 1))
	while (($(found "$test") < most)); do
		seconds=$(((left < SLICE ? left : SLICE) - (SECONDS - begun)))
		((seconds > 0)) || break
		idle=0
		echo "soak: $job for $seconds s"
		touch "$work/start"
		if run "$kind" "$package" "$test" "$seconds" >"$work/log" 2>&1; then break; fi
		keep "$kind" "$package" "$test"
	done
	left=$((left - (SECONDS - begun)))
	i=$((i + 1))
done
rm -f "$place"
if [[ -z $(ls "$dir/findings") ]]; then
	echo "soak: no findings"
else
	echo "soak: findings in $dir/findings:"
	ls "$dir/findings"
	exit 1
fi
