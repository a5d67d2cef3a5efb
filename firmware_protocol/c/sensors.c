#include "sensors.h"

#include "board.h"
#include "port.h"

#define STUCK_PARTS_OF_TURN 12u /* three pockets */

/* What the table of the specification says of one kind of line. 0: it has no such time. */
struct rule {
    uint32_t settles_us;
    uint32_t longest_us;
    uint32_t restless_us;
    uint8_t event;
};

static const struct rule rules[] = {
    [LINE_BEAM] = {WHEEL_BEAM_SETTLE_US, WHEEL_BEAM_LONGEST_US, 0u, WHEEL_KIND_BEAM},
    [LINE_READER] = {WHEEL_READER_SETTLE_US, WHEEL_READER_LONGEST_US, 0u, WHEEL_KIND_READER},
    [LINE_OBJECT] = {WHEEL_OBJECT_SETTLE_US, 0u, WHEEL_OBJECT_RESTLESS_US, WHEEL_KIND_OBJECT},
    [LINE_DOOR] = {WHEEL_DOOR_SETTLE_US, 0u, WHEEL_DOOR_RESTLESS_US, WHEEL_KIND_DOOR},
    [LINE_BUTTON] = {WHEEL_BUTTON_SETTLE_US, 0u, 0u, WHEEL_KIND_BUTTON},
};

struct state {
    uint64_t edge_us;  /* of the latest edge */
    uint64_t begin_us; /* of a pulse: its first edge; of a button: its press; else when its unrest began */
    uint32_t steps;    /* of a reader: where the rotor stood when the pulse began */
    bool reads : 1;    /* since edge_us */
    bool on : 1;       /* settled */
    bool restless : 1; /* no level has lasted since begin_us */
    bool whole : 1;    /* the pulse began after the boot */
    bool stuck : 1;
    bool dead; /* as a self-test found */
};

#define READERS_FROM SENSORS_BEAMS
#define OBJECT_AT (READERS_FROM + SENSORS_READERS)
#define DOOR_AT (OBJECT_AT + 1u)
#define BUTTONS_FROM (DOOR_AT + 1u)
#define LINES (BUTTONS_FROM + WHEEL_BUTTON_CODES)

/* The encoder. Steps count changes of A or B, clockwise positive, and wrap; the remainder of a division by PERIOD is
   always the phase, which A and B show. So the mark may come up to a step early or late. */
#define PERIOD 4u
#define MARK_STEPS_MAX 2   /* the mark is not wider: a second edge in this distance is a bounce, or a hand */
#define LATE_STEPS 8       /* so far beyond a turn the mark counts as missed */
#define RATTLE_STEPS_MIN 8u /* to and fro at one border */

struct encoder {
    uint64_t edge_us; /* of A or B */
    uint32_t steps;
    uint32_t offset;   /* steps at the border of sector 0 */
    uint32_t place;    /* steps, one of the two at which it rattles */
    uint32_t rattled;  /* how many steps stayed there */
    int32_t from_mark; /* steps since the mark */
    uint8_t rattled_marks;
    uint8_t phase;
    int8_t way;      /* 1 clockwise, -1 counter-clockwise, 0 unknown */
    int8_t mark_way; /* of the latest mark */
    bool a;
    bool b;
    bool zero;
    bool a_read; /* without an edge since: one that came just before may still follow, and repeats the level */
    bool b_read;
    bool has_phase;
    bool has_offset;
    bool known; /* the place is proven: edges are sent */
    bool lost;  /* told as failed */
    bool dead;
};

static struct {
    struct layout layout;
    uint16_t zero_tick;
    uint64_t settled_us;
    uint16_t held_told; /* buttons, of which the press has its number */
    bool object_told;
    bool door_told;
    struct state lines[LINES];
    struct encoder rotor;
} sensors;

static void tell(uint8_t kind, uint8_t value, uint16_t index, uint64_t at_us)
{
    const struct event event = {.at_us = at_us, .kind = kind, .value = value, .index = index};
    board_event(&event);
}

static void tell_works(uint8_t sensor, uint16_t index, bool works, uint64_t at_us)
{
    tell((uint8_t)(works ? WHEEL_KIND_WORKS : WHEEL_KIND_FAILED), sensor, index, at_us);
}

/* Lines of two levels */

static struct state *state_of(uint8_t line, uint8_t index)
{
    static const uint8_t from[] = {[LINE_BEAM] = 0, [LINE_READER] = READERS_FROM, [LINE_OBJECT] = OBJECT_AT,
                                   [LINE_DOOR] = DOOR_AT, [LINE_BUTTON] = BUTTONS_FROM};
    return &sensors.lines[from[line] + index];
}

static uint8_t lines_of(uint8_t line)
{
    const uint8_t lines[] = {[LINE_BEAM] = sensors.layout.beams,
                             [LINE_READER] = sensors.layout.readers,
                             [LINE_OBJECT] = sensors.layout.object_sensor ? 1u : 0u,
                             [LINE_DOOR] = sensors.layout.door_switch ? 1u : 0u,
                             [LINE_BUTTON] = WHEEL_BUTTON_CODES};
    return lines[line];
}

static void set_stuck(uint8_t line, uint8_t index, bool stuck, uint64_t at_us)
{
    struct state *const state = state_of(line, index);
    const uint8_t sensor = (uint8_t)((line == (uint8_t)LINE_BEAM) ? WHEEL_SENSOR_BEAM : WHEEL_SENSOR_READER);
    if ((state->stuck != stuck) && !state->dead) {
        tell_works(sensor, index, !stuck, at_us);
    }
    state->stuck = stuck;
}

/* The level that the line reads has lasted. */
static void change(uint8_t line, uint8_t index)
{
    struct state *const state = state_of(line, index);
    const uint64_t at_us = state->edge_us;
    state->on = state->reads;
    if (rules[line].longest_us == 0u) {
        if (line == (uint8_t)LINE_BUTTON) {
            if (state->on) {
                state->begin_us = at_us;
                sensors.held_told &= (uint16_t)~(1u << index); /* a press before this one may have its number */
                tell(WHEEL_KIND_BUTTON, index, 0, at_us);
            }
        } else {
            tell(rules[line].event, state->on ? 1u : 0u, 0, at_us);
        }
    } else if (state->on) {
        state->begin_us = at_us;
        state->steps = sensors.rotor.steps;
        state->whole = true;
    } else if (state->stuck) {
        set_stuck(line, index, false, at_us);
    } else if (state->whole && (at_us - state->begin_us <= rules[line].longest_us)) {
        tell(rules[line].event, 0, index, state->begin_us + (at_us - state->begin_us) / 2u);
    } else {
        /* longer than a ball */
    }
}

/* Time has passed to `now_us`, in which this line had no edge. */
static void pass_time(uint8_t line, uint8_t index, uint64_t now_us)
{
    struct state *const state = state_of(line, index);
    const uint32_t restless_us = rules[line].restless_us;
    if (now_us - state->edge_us >= rules[line].settles_us) {
        state->restless = false;
        if (state->reads != state->on) {
            change(line, index);
        }
    } else if ((restless_us > 0u) && state->restless && state->reads && !state->on &&
               (now_us - state->begin_us >= restless_us)) {
        change(line, index);
    } else {
        /* not yet */
    }
    /* while it reads free, the pulse may have ended before */
    if ((line == (uint8_t)LINE_BEAM) && state->on && state->reads && !state->stuck &&
        (now_us - state->begin_us > WHEEL_BEAM_FAILED_US)) {
        set_stuck(line, index, true, state->begin_us + WHEEL_BEAM_FAILED_US);
    }
}

static void line_edge(const struct edge *edge)
{
    struct state *const state = state_of(edge->line, edge->index);
    pass_time(edge->line, edge->index, edge->at_us);
    if (state->reads == edge->on) {
        return;
    }
    if ((rules[edge->line].restless_us > 0u) && !state->restless) {
        state->restless = true;
        state->begin_us = edge->at_us;
    }
    state->reads = edge->on;
    state->edge_us = edge->at_us;
}

/* The earliest date of an event that this line can still give. */
static uint64_t settled_of(uint8_t line, uint8_t index, uint64_t now_us)
{
    const struct state *const state = state_of(line, index);
    uint64_t settled_us = (state->reads != state->on) ? state->edge_us : now_us;
    if ((rules[line].longest_us > 0u) && state->on && state->whole && !state->stuck) {
        const uint64_t pulse_us = settled_us - state->begin_us;
        if (pulse_us <= rules[line].longest_us) {
            settled_us = state->begin_us + pulse_us / 2u;
        }
    }
    return settled_us;
}

/* The rotor */

static uint32_t distance(uint32_t one, uint32_t other)
{
    const uint32_t ahead = one - other;
    return (ahead < 0x80000000u) ? ahead : (uint32_t)(0u - ahead);
}

/* `one` - `other`, reduced to 0 ... ticks - 1. */
static uint16_t around(uint32_t one, uint32_t other)
{
    const uint16_t ticks = sensors.layout.rotor_ticks;
    const uint16_t part = (uint16_t)(distance(one, other) % ticks);
    return ((one - other < 0x80000000u) || (part == 0u)) ? part : (uint16_t)(ticks - part);
}

/* Nothing is sent until the mark has shown the place. */
static void doubt(uint64_t at_us)
{
    struct encoder *const rotor = &sensors.rotor;
    rotor->known = false;
    if (!rotor->lost) {
        rotor->lost = true;
        if (!rotor->dead) {
            tell_works(WHEEL_SENSOR_ROTOR, 0, false, at_us);
        }
    }
}

/* Steps were lost. */
static void forget(uint64_t at_us)
{
    sensors.rotor.has_phase = false;
    sensors.rotor.has_offset = false;
    sensors.rotor.way = 0;
    doubt(at_us);
}

static uint8_t phase_of(bool a, bool b)
{
    return b ? (a ? 2u : 3u) : (a ? 1u : 0u);
}

/* Readers that are blocked while the rotor turns by three pockets have failed: a ball goes with it. */
static void watch_readers(uint64_t at_us)
{
    for (uint8_t index = 0; index < sensors.layout.readers; index++) {
        const struct state *const state = state_of(LINE_READER, index);
        pass_time(LINE_READER, index, at_us);
        if (state->on && state->reads && !state->stuck &&
            (distance(sensors.rotor.steps, state->steps) > sensors.layout.rotor_ticks / STUCK_PARTS_OF_TURN)) {
            set_stuck(LINE_READER, index, true, at_us);
        }
    }
}

static void step(uint64_t at_us)
{
    struct encoder *const rotor = &sensors.rotor;
    const uint8_t phase = phase_of(rotor->a, rotor->b);
    if (!rotor->has_phase) {
        rotor->has_phase = true;
        rotor->steps += (phase - rotor->steps) % PERIOD;
        rotor->phase = phase;
        rotor->from_mark = 0;
        return;
    }
    const bool clockwise = ((uint8_t)(phase - rotor->phase) % PERIOD) == 1u;
    rotor->way = clockwise ? 1 : -1;
    rotor->phase = phase;
    rotor->steps += clockwise ? 1u : UINT32_MAX;
    rotor->from_mark += rotor->way;
    rotor->rattled++;
    if (distance(rotor->steps, rotor->place) > 1u) {
        rotor->place = rotor->steps;
        rotor->rattled = 0;
        rotor->rattled_marks = 0;
    }
    const int32_t too_far = (int32_t)sensors.layout.rotor_ticks + LATE_STEPS;
    if ((rotor->from_mark > too_far) || (rotor->from_mark < -too_far)) {
        rotor->from_mark = 0;
        rotor->has_offset = false;
        doubt(at_us);
    } else if (rotor->known && rotor->has_offset) {
        tell(WHEEL_KIND_ROTOR, (uint8_t)(clockwise ? 0u : 1u), around(rotor->steps, rotor->offset), at_us);
    } else {
        /* the place is not known */
    }
    watch_readers(at_us);
}

/* The mark's edge at the low angles, which rises clockwise and falls counter-clockwise, shows the place. */
static void mark(bool rises, uint64_t at_us)
{
    struct encoder *const rotor = &sensors.rotor;
    if ((rotor->rattled >= RATTLE_STEPS_MIN) && (rotor->rattled_marks < 2u)) {
        rotor->rattled_marks++;
    }
    if (rotor->rattled_marks > 1u) {
        doubt(at_us); /* a rotor that rattles does not pass its mark: A or B is dead */
        return;
    }
    if (!rotor->has_phase || (rotor->way != (rises ? 1 : -1))) {
        return;
    }
    const int32_t turned = (rotor->from_mark < 0) ? -rotor->from_mark : rotor->from_mark;
    const bool again = (rotor->mark_way == rotor->way) && (turned <= LATE_STEPS);
    if (again && rotor->has_offset && (turned <= MARK_STEPS_MAX)) {
        return;
    }
    rotor->from_mark = 0;
    rotor->mark_way = rotor->way;
    const uint32_t from_zero = rotor->steps - sensors.zero_tick;
    const uint32_t offset = (from_zero + 1u) & ~(uint32_t)(PERIOD - 1u); /* the nearest place that fits the phase */
    const bool between = from_zero - offset == 2u;                       /* two are as near */
    const bool agrees = !rotor->has_offset || (!again && (around(offset, rotor->offset) == 0u));
    rotor->has_offset = true;
    rotor->offset = offset;
    if (between || !agrees) {
        doubt(at_us);
        return;
    }
    rotor->known = true;
    if (rotor->lost) {
        rotor->lost = false;
        if (!rotor->dead) {
            tell_works(WHEEL_SENSOR_ROTOR, 0, true, at_us);
        }
    }
}

static void read_rotor(void)
{
    sensors.rotor.a = port_line_is_on(LINE_ROTOR_A, 0);
    sensors.rotor.b = port_line_is_on(LINE_ROTOR_B, 0);
    sensors.rotor.zero = port_line_is_on(LINE_ROTOR_ZERO, 0);
    sensors.rotor.a_read = true;
    sensors.rotor.b_read = true;
}

static void rotor_edge(const struct edge *edge)
{
    struct encoder *const rotor = &sensors.rotor;
    bool *const reads = (edge->line == (uint8_t)LINE_ROTOR_A)   ? &rotor->a
                        : (edge->line == (uint8_t)LINE_ROTOR_B) ? &rotor->b
                                                                : &rotor->zero;
    const bool repeats = *reads == edge->on;
    const bool is_first = (edge->line == (uint8_t)LINE_ROTOR_A) ? rotor->a_read : rotor->b_read;
    *reads = edge->on;
    if (edge->line == (uint8_t)LINE_ROTOR_ZERO) {
        if (!repeats) {
            mark(edge->on, edge->at_us);
        }
        return;
    }
    if (edge->line == (uint8_t)LINE_ROTOR_A) {
        rotor->a_read = false;
    } else {
        rotor->b_read = false;
    }
    if (repeats && is_first) {
        return;
    }
    if (repeats || (edge->at_us == rotor->edge_us)) {
        forget(edge->at_us); /* an edge was lost, or both channels changed at once */
    } else {
        rotor->edge_us = edge->at_us;
        step(edge->at_us);
    }
}

/* All sensors */

static bool has_line(const struct edge *edge)
{
    if (edge->line <= (uint8_t)LINE_BUTTON) {
        return edge->index < lines_of(edge->line);
    }
    return (sensors.layout.rotor_ticks > 0u) && (sensors.layout.rotor_ticks % PERIOD == 0u);
}

void sensors_start(const struct layout *layout, uint16_t zero_tick, uint64_t now_us)
{
    sensors.layout = *layout;
    sensors.zero_tick = zero_tick;
    sensors.settled_us = now_us;
    sensors.held_told = 0;
    for (uint8_t line = LINE_BEAM; line <= (uint8_t)LINE_BUTTON; line++) {
        for (uint8_t index = 0; index < lines_of(line); index++) {
            struct state *const state = state_of(line, index);
            *state = (struct state){.edge_us = now_us, .begin_us = now_us};
            state->reads = port_line_is_on(line, index);
            state->on = state->reads;
            if ((line == (uint8_t)LINE_BUTTON) && state->on) {
                sensors.held_told |= (uint16_t)(1u << index);
            }
        }
    }
    sensors.object_told = state_of(LINE_OBJECT, 0)->on;
    sensors.door_told = state_of(LINE_DOOR, 0)->on;
    sensors.rotor = (struct encoder){.edge_us = UINT64_MAX};
    if (layout->rotor_ticks > 0u) {
        read_rotor();
        sensors.rotor.has_phase = true;
        sensors.rotor.phase = phase_of(sensors.rotor.a, sensors.rotor.b);
        sensors.rotor.steps = sensors.rotor.phase;
    }
    if (layout->rotor_ticks % PERIOD != 0u) {
        doubt(now_us); /* an encoder has no such number: the board is not built as it was set up */
    }
}

void sensors_edge(const struct edge *edge)
{
    if (!has_line(edge)) {
        return;
    }
    if (edge->line <= (uint8_t)LINE_BUTTON) {
        line_edge(edge);
    } else {
        rotor_edge(edge);
    }
}

void sensors_missed(uint64_t now_us)
{
    for (uint8_t line = LINE_BEAM; line <= (uint8_t)LINE_BUTTON; line++) {
        for (uint8_t index = 0; index < lines_of(line); index++) {
            const struct edge edge = {
                .at_us = now_us, .line = line, .index = index, .on = port_line_is_on(line, index)};
            line_edge(&edge);
        }
    }
    if (sensors.layout.rotor_ticks > 0u) {
        read_rotor();
        forget(now_us);
    }
}

uint64_t sensors_until(uint64_t now_us)
{
    uint64_t settled_us = now_us;
    for (uint8_t line = LINE_BEAM; line <= (uint8_t)LINE_BUTTON; line++) {
        for (uint8_t index = 0; index < lines_of(line); index++) {
            pass_time(line, index, now_us);
            const uint64_t of_line_us = settled_of(line, index, now_us);
            settled_us = (of_line_us < settled_us) ? of_line_us : settled_us;
        }
    }
    sensors.settled_us = (settled_us > sensors.settled_us) ? settled_us : sensors.settled_us;
    return sensors.settled_us;
}

void sensors_numbered(const struct event *event)
{
    if (event->kind == WHEEL_KIND_BUTTON) {
        if (event->at_us >= state_of(LINE_BUTTON, event->value)->begin_us) { /* not of a press before the latest */
            sensors.held_told |= (uint16_t)(1u << event->value);
        }
    } else if (event->kind == WHEEL_KIND_OBJECT) {
        sensors.object_told = event->value == 1u;
    } else if (event->kind == WHEEL_KIND_DOOR) {
        sensors.door_told = event->value == 1u;
    } else {
        /* no contact */
    }
}

static uint16_t bits_on(uint8_t line)
{
    uint16_t bits = 0;
    for (uint8_t index = 0; index < lines_of(line); index++) {
        if (state_of(line, index)->on) {
            bits |= (uint16_t)(1u << index);
        }
    }
    return bits;
}

static uint8_t stand(bool known, bool on)
{
    /* the door has the same codes */
    return (uint8_t)(known ? (on ? WHEEL_OBJECT_PRESENT : WHEEL_OBJECT_CLEAR) : WHEEL_OBJECT_UNKNOWN);
}

void sensors_levels(struct levels *levels)
{
    levels->beams_blocked = bits_on(LINE_BEAM);
    levels->readers_blocked = bits_on(LINE_READER);
    sensors.held_told &= bits_on(LINE_BUTTON); /* a release makes no event */
    levels->buttons_held = sensors.held_told;
    levels->object = stand(sensors.layout.object_sensor && sensors_work(WHEEL_SENSOR_OBJECT, 0), sensors.object_told);
    levels->door = stand(sensors.layout.door_switch, sensors.door_told);
}

/* Of a sensor: whether it is failed for another reason than a self-test, and where its own finding is kept. */
static bool *dead_of(uint8_t sensor, uint16_t index, bool *failed)
{
    if (sensor == WHEEL_SENSOR_ROTOR) {
        *failed = sensors.rotor.lost;
        return &sensors.rotor.dead;
    }
    const uint8_t line = (sensor == WHEEL_SENSOR_BEAM)     ? (uint8_t)LINE_BEAM
                         : (sensor == WHEEL_SENSOR_READER) ? (uint8_t)LINE_READER
                                                              : (uint8_t)LINE_OBJECT;
    struct state *const state = state_of(line, (uint8_t)index);
    *failed = state->stuck;
    return &state->dead;
}

static void test(uint8_t sensor, uint16_t count, uint64_t now_us)
{
    for (uint16_t index = 0; index < count; index++) {
        bool failed;
        bool *const dead = dead_of(sensor, index, &failed);
        const bool found_dead = !port_sensor_works(sensor, index);
        if ((found_dead != *dead) && !failed) {
            tell_works(sensor, index, !found_dead, now_us);
        }
        *dead = found_dead;
    }
}

void sensors_tested(uint64_t now_us)
{
    test(WHEEL_SENSOR_BEAM, sensors.layout.beams, now_us);
    test(WHEEL_SENSOR_READER, sensors.layout.readers, now_us);
    test(WHEEL_SENSOR_ROTOR, (sensors.layout.rotor_ticks > 0u) ? 1u : 0u, now_us);
    test(WHEEL_SENSOR_OBJECT, sensors.layout.object_sensor ? 1u : 0u, now_us);
}

bool sensors_work(uint8_t sensor, uint16_t index)
{
    bool failed;
    const bool dead = *dead_of(sensor, index, &failed);
    return !failed && !dead;
}
