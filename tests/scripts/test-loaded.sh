#!/usr/bin/env bash
# All tests beside a load of processors and disks. RELAYFS_TEST_TIMESCALE (5) is how many times as long they may take.
set -euo pipefail
cd "$(dirname "$0")/../.."

tests/scripts/deps.sh test
stress-ng --quiet --cpu 4 --io 2 &
load=$!
trap 'kill "$load"; wait "$load" || true' EXIT
RELAYFS_TEST_TIMESCALE=${RELAYFS_TEST_TIMESCALE:-5} tests/scripts/test.sh
