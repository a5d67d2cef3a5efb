# Two commands set up everything: `make demo` and `make test`. Outside .venv they install only Debian packages that are
# missing, and only if the user may use apt-get: python3-venv and mosquitto; gcc for the tests; gcc-arm-none-eabi,
# gcc-avr, avr-libc, libsimavr-dev, qemu-system-arm and Node for test-firmware; Node, a JDK and mosquitto-clients for
# test-consumers; chromium for test-pages; PostgreSQL, Patroni, etcd, ZBar and Go for test-house.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# How many coups demo (0: until Ctrl-C), campaign (default 100000) and test-firmware (default 2) play.
COUPS  ?=
# The path of a test file with this name.
found   = $(or $(wildcard tests/$(1) tests/*/$(1) tests/*/*/$(1)),$(error there is no $(1) below tests))
DRAWN  := $(foreach each,test_evenings.py test_law_machine.py test_simulator.py test_order.py test_number_out.py,\
    $(call found,$(each)))
# Tests that prove verdicts, with hundreds of evenings, wrong laws and injected faults: `make proofs`.
PROOFS := tests/whole tests/hw_sim/test_evening.py $(foreach each,test_samples.py \
    test_head_machine.py test_law_walk.py test_coups.py test_host_link.py test_board_and_host.py \
    test_campaign.py hw_sim/test_wheel.py test_fall.py test_faults.py test_watchdog.py test_written.py test_levels_told.py \
    test_languages.py test_histories.py test_strays.py test_damaged_line.py sources/test_standstill.py cli/test_run.py \
    test_restarts.py,$(call found,$(each)))
# Tests that measure how reliable `wheeld-report` is, on thousands of simulated wheels: `make test-report`.
STATISTICS := tests/report/test_numbers.py tests/report/test_trials.py
# Tests like those of `make test` that take a long time: `make longer`.
LONGER := $(foreach each,test_coup.py test_pick_up.py test_table_evidence.py test_schemas.py \
    test_doctor.py test_self_test.py test_supply.py test_card.py test_buttons.py test_board_pin.py \
    test_secrets_in_a_run.py feed/test_watch.py feed/test_real.py cli/test_language.py \
    sources/test_head.py test_law_page.py cli/test_clone.py test_makefile.py journal/test_auditor.py \
    security/test_tls.py packaging/test_package.py hw_sim_campaign/test_report.py,$(call found,$(each))) \
    $(filter-out $(STATISTICS),$(wildcard tests/report/test_*.py))
# These also take a long time. Only they run some lines of the core or of a source, so the gates need to know which lines
# they run. To measure this makes a test 1.5 times as long, so it is not measured for the other long tests.
GATED  := $(foreach each,test_forecast.py test_ball.py cammegh/test_status.py core/test_published.py \
    test_american_wheel.py test_line_troubles.py doctor/test_bench.py,$(call found,$(each)))
# Tests of the daemon in real time, which mostly wait: `make live`. Two run at a time, but not beside tests that take a
# whole core: if the machine stops for a moment, the daemon sees a silent line. For this reason failed tests run once
# more, alone. On a machine that others used too, one run in three met such a stop.
LIVE := tests/live tests/security/test_floods.py
OF_OTHERS := $(DRAWN) $(PROOFS) $(STATISTICS) $(LIVE) tests/faults tests/consumers tests/house tests/site tests/browser tests/firmware
# `make test` leaves out OF_OTHERS, because these tests have their own targets.
GIVEN_SPEED := $(SPEED)
SPEED  ?= 5
# For tests and test-source: the files or directories of tests to run, instead of all.
PARTS  ?=
# For tests: COVER=yes stores which lines and branches ran, for the gates.
COVER  ?=
TRIED   = $(BIN)/$(if $(COVER),coverage run -m pytest,python -m pytest)
# For campaign: FAULTS multiplies the default fault rates. The same SEED gives the same report. JOBS evenings run at the
# same time. The report goes to OUT. MORE has other options (MORE=--margin). For bench-house: MORE has its options.
GIVEN_FAULTS := $(FAULTS)
FAULTS ?= 1
# demo uses only a seed that was given, and it must be a number. Without one, each demo is different.
GIVEN_SEED := $(SEED)
SEED   ?= $(shell git rev-parse HEAD 2>/dev/null || echo 0)
JOBS   ?= 2
OUT    ?= .wheeld-campaign
MORE   ?=
# For faults, evenings and bench: how much they try, short (CI) or long; tests/faults/conftest.py says how much that is.
FORM   ?= long
FORMED  = WHEELD_FAULTS=$(FORM) WHEELD_FAULTS_SEED=$(SEED) $(BIN)/python -m pytest --timeout 3600
AGAIN   = --last-failed --last-failed-no-failures none
# For whole: how many evenings, and to which kinds of faults they are limited (ONLY="disc_slips disc_slips_back").
EVENINGS ?= 10000
ONLY     ?=
# For locks: UPGRADE=--upgrade takes the newest versions that pyproject.toml allows. Otherwise those of the lock stay.
UPGRADE ?=
LOCK    = $(BIN)/uv pip compile -q $(UPGRADE) --universal --python-version 3.11 --generate-hashes --custom-compile-command 'make locks'
# For release: its private key (openssl genpkey -algorithm ed25519). No computer of a casino may have this key.
RELEASE_KEY ?=
# For deb: the kind of computer for which the package is (amd64, arm64).
ARCH   ?= $(shell dpkg --print-architecture)
# For test-source and test-install: the release of Debian, bookworm or trixie. For test-install: the tests to run (with
# STEPS=tests/packaging/test_house_way.py those of the house's package), and the release to which they upgrade last.
RELEASE ?= bookworm
STEPS  ?= tests/packaging/test_install.py tests/packaging/test_whole_way.py
NEXT_bookworm := trixie
# For test-report: how many fair wheels, and how many wheels with each fault (FAULTY). For house, soak, test-house and
# bench-house: how many wheels.
GIVEN_WHEELS := $(WHEELS)
WHEELS ?= 1000
FAULTY ?= 100
# For soak: how many hours of real time.
HOURS  ?= 2
# For floods: how many processes take a whole processor each.
BUSY     ?= 0
# For test-house: how many nights with drawn faults.
NIGHTS ?= 3
# For test-firmware: how many frames the codecs in C and in Python read.
FRAMES ?= 1000000
# For feed: how many histories of a dishonest broker.
HISTORIES ?= 100000
# For test-gpio, test-systemd and test-metrics: the directory that keeps a kernel and a Debian, which take minutes to
# make, and promtool, for other clones. A clone that finds nothing there makes its own. WHEELD_CACHE= keeps nothing.
export WHEELD_CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/wheeld
# For test-gpio: for how many seconds edges come, 500 in each second.
SECONDS_AT_500 ?= 60
SUDO   := $(shell [ "$$(id -u)" = 0 ] || command -v sudo)
APT    := $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get
ROOT   := $(shell [ "$$(id -u)" = 0 ] && echo yes)
# This is a variable, because make takes a comma in the call of a function as the end of an argument.
HOUSE  := './house[binary,page]'
# How many MB pip downloads for each stamp.
SIZES  := demo:10 campaign:45 test:160 pages:215 house:225 docs:30 release:50
# This installs Debian packages. If that fails, or if the user has neither root nor sudo, it prints what to install.
need    = $(if $(ROOT)$(SUDO),{ echo "missing here: $(1); apt-get installs it and prints each step:"; $(APT) -qq update; $(APT) -qq install -y --no-install-recommends $(1); } ||) { echo "install $(1): apt-get install $(1), as root" >&2; exit 1; }

.NOTPARALLEL:
.PHONY: help quick soak house demo test live docs test-report test-firmware test-systemd test-gpio test-consumers test-house bench-house test-pages pictures chromium zbar test-metrics test-source test-install test-install-arm64 faults floods evenings whole proofs feed bench locks sbom release deb lint types tests longer gates coverage campaign catalogues clean mosquitto postgresql patroni go cc arm avr

help:  ## these targets
	@sed -nE 's/^([a-z-]+):.*  ## (.*)/\1\t\2/p' Makefile | expand -t 18

house: $(VENV)/house.stamp mosquitto postgresql  ## a whole house on this computer: PostgreSQL, three wheels, the collector; COUPS=5 ends by itself
	@$(BIN)/wheeld-house demo --coups $(or $(COUPS),0) $(if $(GIVEN_WHEELS),--wheels $(WHEELS))

demo: $(VENV)/demo.stamp mosquitto  ## broker, simulated wheel, daemon, its pages and a live view; COUPS=5 ends by itself, SEED=7 plays the same again
	@$(BIN)/hw-sim demo --coups $(or $(COUPS),0) --speed $(SPEED) $(if $(GIVEN_SEED),--seed $(GIVEN_SEED))

test: lint types tests  ## everything the tests need, then the tests

quick: $(VENV)/test.stamp  ## ten seconds: style and tests of what was changed since the last commit
	@$(BIN)/python -m tests.quick

lint: $(VENV)/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/test.stamp
	$(BIN)/mypy

tests: $(VENV)/test.stamp mosquitto cc
	$(TRIED) -n 2 --dist worksteal $(OF_OTHERS:%=--ignore=%) $(LONGER:%=--ignore=%) $(GATED:%=--ignore=%) $(PARTS)

live: $(VENV)/test.stamp mosquitto  ## the daemon in real time: whole demos, a network that is cut, floods, kills
	$(BIN)/python -m pytest -n 2 --dist worksteal $(LIVE) || $(BIN)/python -m pytest $(AGAIN) $(LIVE)

proofs: $(VENV)/test.stamp mosquitto cc  ## what proves verdicts: hundreds of evenings, of wrong laws and of faults
	$(BIN)/python -m pytest -n 2 --dist worksteal $(PROOFS)

longer: $(VENV)/test.stamp mosquitto cc
	$(TRIED) -n 2 --dist worksteal $(GATED)
	$(BIN)/python -m pytest -n 2 --dist worksteal $(LONGER)

coverage:  ## the tests of make test and the longer ones of their kind, and the gates: every branch of the law and of the wire, nine tenths of the rest
	rm -f .coverage .coverage.*
	$(MAKE) tests longer gates COVER=yes

# These check the lines and branches that ran with COVER=yes.
gates: $(VENV)/test.stamp
	-@$(BIN)/coverage combine -q
	$(BIN)/coverage report --include='wheeld/core/*,wheeld/replay.py,wheeld/text_error.py,firmware_protocol/*' --fail-under=100 --show-missing --skip-covered
	$(BIN)/coverage report --include='wheeld/*' --omit='wheeld/core/*,wheeld/replay.py,wheeld/text_error.py' --fail-under=90 --show-missing --skip-covered

catalogues: $(VENV)/test.stamp  ## the translations, brought up to date with the texts of the code; says what is missing
	$(BIN)/python -m wheeld.locale hw_sim

campaign: $(VENV)/campaign.stamp  ## every verdict of so many coups held to the truth; the report is OUT/report.html
	@echo "campaign: seed $(SEED), faults × $(FAULTS) $(MORE)"
	$(BIN)/hw-sim campaign --coups $(or $(COUPS),100000) --faults $(FAULTS) --seed $(SEED) --jobs $(JOBS) --out $(OUT) $(MORE)

test-systemd: $(VENV)/test.stamp  ## the unit under a booted systemd, as root; keeps a small Debian in .wheeld-systemd
	@[ -n "$(SUDO)" ] || [ "$$(id -u)" = 0 ] || { echo "test-systemd boots a machine: be root or have sudo" >&2; exit 1; }
	-@[ -z "$(WHEELD_CACHE)" ] || mkdir -p "$(WHEELD_CACHE)"  # this user owns it, though root writes there
	$(SUDO) env WHEELD_CACHE="$(WHEELD_CACHE)" tests/systemd/prepare .wheeld-systemd $(BIN)/python
	$(SUDO) env WHEELD_ROOT=$(CURDIR)/.wheeld-systemd/root $(BIN)/python -m pytest -p no:cacheprovider tests/systemd

test-gpio: $(VENV)/complete  ## the GPIO on lines of a real kernel; builds it once (4 min of a core), kept in .wheeld-gpio
	tests/gpio/kernel/build .wheeld-gpio $(BIN)/python
	tests/gpio/kernel/run .wheeld-gpio $(SECONDS_AT_500)

test-firmware: $(VENV)/test.stamp mosquitto cc arm avr .wheeld-firmware/stamp  ## the firmware in C beside the simulated board: a million frames, each short life of a ring, coups and faults on a program, on the RP2040 and the ATmega2560 in simulators, the STM32 in QEMU; FRAMES=20000 is CI's, COUPS=500 plays more
	WHEELD_FIRMWARE_FRAMES=$(FRAMES) WHEELD_FIRMWARE_COUPS_IN_LOOP=$(or $(COUPS),2) $(BIN)/python -m pytest tests/firmware

test-consumers: $(VENV)/test.stamp mosquitto .wheeld-consumers/stamp  ## the feed's consumers in JavaScript and Java, at a real broker
	@command -v javac >/dev/null || { $(call need,default-jdk-headless); }
	@command -v mosquitto_sub >/dev/null || { $(call need,mosquitto-clients); }
	$(BIN)/python -m pytest tests/consumers

test-house: $(VENV)/house.stamp mosquitto postgresql patroni chromium zbar go cc  ## the collector of a house: PostgreSQL, brokers and collectors, killed and stopped in drawn order, their disks full and slow; its receipts, judged by a browser and by Go; NIGHTS=50 SEED=1000 draws more, WHEELS=50 FAULTS=100 a longer night
	WHEELD_HOUSE_NIGHTS=$(NIGHTS) WHEELD_HOUSE_SEED=$(or $(GIVEN_SEED),1) WHEELD_HOUSE_WHEELS=$(or $(GIVEN_WHEELS),3) WHEELD_HOUSE_FAULTS=$(or $(GIVEN_FAULTS),0) $(BIN)/python -m pytest tests/house

bench-house: $(VENV)/house.stamp mosquitto postgresql  ## what a house of WHEELS=1000 costs: feeds through three brokers and two collectors into PostgreSQL, the rate raised, an outage; MORE="--standby --outage 60"
	$(BIN)/python -m tests.house.bench $(WHEELS) $(MORE)

# These tests play in real time, like LIVE. So failed ones run once more, alone.
test-pages: $(VENV)/pages.stamp mosquitto chromium  ## the pages in a browser: languages, keyboard, axe, a whole evening at the chef's panel
	$(BIN)/python -m pytest -n 2 --dist loadfile tests/browser || $(BIN)/python -m pytest $(AGAIN) tests/browser

pictures: $(VENV)/pages.stamp mosquitto chromium  ## the pictures of the pages in docs/pictures
	$(BIN)/python -m tests.browser.pictures docs/pictures

.wheeld-consumers/stamp: docs/feed/package.json docs/feed/package-lock.json
	@command -v npm >/dev/null || { $(call need,nodejs npm); }
	mkdir -p $(@D) && cp $^ $(@D)
	npm ci --prefix $(@D) --silent --no-audit --no-fund
	@touch $@

.wheeld-firmware/stamp: tests/firmware/package.json tests/firmware/package-lock.json
	@command -v npm >/dev/null || { $(call need,nodejs npm); }
	mkdir -p $(@D) && cp $^ $(@D)
	npm ci --prefix $(@D) --silent --no-audit --no-fund
	@touch $@

test-metrics: $(VENV)/test.stamp .wheeld-metrics/promtool  ## alert rules, dashboard and metrics, tried by promtool; gets it without installing a server
	WHEELD_PROMTOOL=$(CURDIR)/.wheeld-metrics/promtool $(BIN)/python -m pytest tests/page/test_alerts.py

.wheeld-metrics/promtool: tests/page/get_promtool
	tests/page/get_promtool $@

# The long form measures times, so its tests run one after the other. Some tests play in real time, so failed ones run
# once more, alone. The other tests draw the same faults again, and fail again.
faults: $(VENV)/test.stamp mosquitto cc  ## kills, power cuts, failing disks, outages, malformed input; FORM=short is CI's
	$(FORMED) $(if $(filter long,$(FORM)),,-n 2 --dist worksteal) tests/faults || $(FORMED) $(AGAIN) tests/faults

floods: $(VENV)/test.stamp mosquitto  ## each role floods the wheel for half a minute with 1,000 messages a second, then 10,000, beside a chef and coups; BUSY=2 takes two processors
	WHEELD_FLOOD_S=30 WHEELD_FLOOD_BUSY=$(BUSY) $(BIN)/python -m pytest -p no:cacheprovider tests/security/test_floods.py

evenings: $(VENV)/test.stamp  ## drawn evenings of people, wheels and wheel heads; FORM=short is CI's
	$(FORMED) -n 2 --dist worksteal $(DRAWN)

whole: $(VENV)/test.stamp  ## the whole in a house where everything fails, on virtual time; EVENINGS=150 is CI's
	$(BIN)/python -m tests.whole $(EVENINGS) $(SEED) $(JOBS) $(ONLY)

feed: $(VENV)/test.stamp  ## the feed behind a dishonest broker, on virtual time; HISTORIES=5000 is CI's
	$(BIN)/python -m tests.feed $(HISTORIES) $(SEED) $(JOBS)

# COUPS: how many coups the largest journal has.
bench: OUT = .wheeld-bench.json
bench: $(VENV)/test.stamp mosquitto  ## what a wheel costs: each figure beside a floor of the same run, kept in OUT; FORM=short is CI's
	$(BIN)/python -m tests.bench $(FORM) $(OUT) $(or $(COUPS),$(if $(filter short,$(FORM)),1000,10000))

soak: $(VENV)/test.stamp mosquitto  ## hours of play, SPEED times as fast as life: nothing that the daemon holds may grow; HOURS=0.5 WHEELS=3 plays three
	$(BIN)/python -m tests.bench.soak $(HOURS) $(if $(GIVEN_SPEED),$(SPEED),8) $(if $(GIVEN_WHEELS),$(WHEELS),1)

test-report: $(VENV)/test.stamp  ## how often `wheeld-report` accuses a fair wheel, in how many coups it finds a fault, how long it takes
	@# CI gives it only the time that all others leave.
	$(BIN)/python -m pytest --timeout 3600 $(STATISTICS)
	$(BIN)/python -m tests.report.trials $(WHEELS) $(FAULTY)

locks: $(VENV)/release.stamp  ## the exact files that a wheel installs, with their hashes; UPGRADE=--upgrade takes newer ones
	$(LOCK) release/locks/build.in -o release/locks/build.txt
	$(LOCK) pyproject.toml --extra page --extra sign -o release/locks/wheel.txt
	$(LOCK) pyproject.toml --extra page --extra sign --extra rpi -o release/locks/wheel-rpi.txt
	$(LOCK) pyproject.toml --extra page --extra sign --extra rpi-lgpio -o release/locks/wheel-rpi-lgpio.txt
	$(LOCK) release/locks/house.in -c release/locks/wheel.txt --no-emit-package wheeld --no-emit-package wheeld-house -o release/locks/house.txt

sbom: $(VENV)/release.stamp  ## the bills of materials of a wheel and of a house, CycloneDX, one for each lock, in dist
	mkdir -p dist
	set -e; for lock in wheel wheel-rpi wheel-rpi-lgpio house; do \
	    case $$lock in house) of=house/;; *) of=;; esac; \
	    $(BIN)/cyclonedx-py requirements release/locks/$$lock.txt --pyproject $${of}pyproject.toml --output-reproducible --of JSON -o dist/$$lock.cdx.json; \
	done

release: $(VENV)/release.stamp  ## all files of a release of the commit, in an empty dist, with the signed list of their hashes; RELEASE_KEY=release.key
	release/build "$(RELEASE_KEY)" $(BIN)
	$(MAKE) sbom
	for each in amd64 arm64; do release/deb $(BIN) $$each dist/*.whl || exit; done
	release/sign "$(RELEASE_KEY)" dist

docs: $(VENV)/test.stamp $(VENV)/docs.stamp  ## the documents as a site, in site; a dead link or anchor fails it
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict -f release/mkdocs.yml
	$(BIN)/python -m pytest tests/site

deb: $(VENV)/release.stamp  ## the Debian packages of the commit, in dist, which nothing signs; ARCH=arm64
	release/deb $(BIN) $(ARCH)

test-source:  ## the README's two commands in a bare Debian, RELEASE=bookworm or trixie, with what it ships; as root; PARTS="tests/cli" tries less
	@[ -n "$(SUDO)" ] || [ "$$(id -u)" = 0 ] || { echo "test-source makes a Debian: be root or have sudo" >&2; exit 1; }
	-@[ -z "$(WHEELD_CACHE)" ] || mkdir -p "$(WHEELD_CACHE)"
	$(SUDO) env WHEELD_CACHE="$(WHEELD_CACHE)" tests/packaging/source .wheeld-source/$(RELEASE) $(RELEASE) "make demo COUPS=5; make $(if $(PARTS),tests PARTS='$(PARTS)',test)"

test-install: $(VENV)/test.stamp $(VENV)/release.stamp  ## the packages in a bare Debian: four commands to a wheel that runs, a reboot, upgrades, removal; as root
	@[ -n "$(SUDO)" ] || [ "$$(id -u)" = 0 ] || { echo "test-install boots a machine: be root or have sudo" >&2; exit 1; }
	-@[ -z "$(WHEELD_CACHE)" ] || mkdir -p "$(WHEELD_CACHE)"
	$(SUDO) env WHEELD_CACHE="$(WHEELD_CACHE)" NEXT=$(NEXT_$(RELEASE)) HOUSE=$(findstring house,$(STEPS)) tests/packaging/prepare .wheeld-install/$(RELEASE) $(BIN) $(RELEASE)
	$(SUDO) env WHEELD_PACKAGES_ROOT=$(CURDIR)/.wheeld-install/$(RELEASE)/root $(BIN)/python -m pytest -p no:cacheprovider $(STEPS)

test-install-arm64: $(VENV)/test.stamp $(VENV)/release.stamp  ## the package for arm64 in a Debian for arm64, RELEASE=trixie too, whose programs qemu runs; as root, ten minutes
	@[ -n "$(SUDO)" ] || [ "$$(id -u)" = 0 ] || { echo "test-install-arm64 makes a Debian: be root or have sudo" >&2; exit 1; }
	$(SUDO) tests/packaging/emulated .wheeld-install/arm64-$(RELEASE) $(BIN) arm64 $(RELEASE)
	$(SUDO) env WHEELD_EMULATED_ROOT=$(CURDIR)/.wheeld-install/arm64-$(RELEASE)/root $(BIN)/python -m pytest -p no:cacheprovider tests/packaging/test_emulated.py

mosquitto:
	@command -v mosquitto >/dev/null || [ -x /usr/sbin/mosquitto ] || { $(call need,mosquitto); }

postgresql:
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || { $(call need,postgresql); }

patroni:  # for a test with three servers of a house, one of which is lost
	@command -v patroni >/dev/null && command -v etcd >/dev/null || { $(call need,patroni etcd-server); }

chromium:
	@command -v chromium >/dev/null || { $(call need,chromium); }

zbar:  # it reads QR codes
	@command -v zbarimg >/dev/null || { $(call need,zbar-tools); }

go:  # a program in Go checks the house's proofs
	@[ -d /usr/share/gocode/src/golang.org/x/mod ] && command -v go >/dev/null || { $(call need,golang-go golang-golang-x-mod-dev); }

cc:  # tests/faults and tests/house put a library in C between a program and its disk
	@command -v cc >/dev/null || { $(call need,gcc libc6-dev); }

arm:  # the compiler for the firmware of the RP2040 and the STM32, and QEMU, which runs that of the STM32
	@command -v arm-none-eabi-gcc >/dev/null && command -v qemu-system-arm >/dev/null || { $(call need,gcc-arm-none-eabi qemu-system-arm); }

avr:  # the compiler for the firmware of the ATmega2560, and the simulator that runs it
	@command -v avr-gcc >/dev/null && [ -e /usr/lib/avr/include/avr/io.h ] && [ -e /usr/include/simavr ] || { $(call need,gcc-avr avr-libc libsimavr-dev); }

# A .venv whose installation was interrupted has a Python, but no complete pip. It is made again.
$(VENV)/complete:
	@$(PYTHON) -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { $(call need,python3-venv); }
	@echo "makes $(VENV), a virtual environment of Python: it takes seconds"
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/%.stamp: pyproject.toml hw_sim/pyproject.toml house/pyproject.toml wheeld_report/pyproject.toml $(VENV)/complete
	@echo "pip installs in $(VENV) what '$*' needs, $(patsubst $*:%,%,$(filter $*:%,$(SIZES))) MB to download: a minute, more on a slow line or computer"
	@[ -t 1 ] || quiet=-q; $(BIN)/python -m pip install $$quiet --disable-pip-version-check -e . -e './hw_sim[$*]' $(if $(filter test pages house,$*),-e ./wheeld_report) $(if $(filter house release,$*),-e $(HOUSE))
	@touch $@

clean:
	[ ! -e .wheeld-systemd ] || $(SUDO) rm -rf .wheeld-systemd
	[ ! -e .wheeld-install ] || $(SUDO) rm -rf .wheeld-install
	[ ! -e .wheeld-source ] || $(SUDO) rm -rf .wheeld-source
	rm -rf $(VENV) .wheeld-consumers .wheeld-firmware .wheeld-gpio .wheeld-metrics .wheeld-campaign .wheeld-bench.json .coverage .coverage.* site .mypy_cache .pytest_cache .ruff_cache .hypothesis
