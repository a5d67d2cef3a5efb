#include "sensors.h"

#include "board.h"
#include "port.h"

#define STUCK_PARTS_OF_TURN 12u /* a twelfth of a turn is three pockets */

/* The times that the specification's table has for one kind of line. 0: this kind has no such time. */
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
    uint64_t edge_us;  /* when the latest edge came */
    uint64_t begin_us; /* the first edge of a pulse, the press of a button; of another line: when it became restless */
    uint32_t steps;    /* of a reader: the encoder's steps when the pulse began */
    bool reads : 1;    /* the level since edge_us */
    bool on : 1;       /* the settled level */
    bool restless : 1; /* no level has lasted since begin_us */
    bool whole : 1;    /* the pulse began after the boot */
    bool stuck : 1;    /* a pulse was too long, so the sensor has failed */
    bool dead;         /* the self-test found that the sensor does not work */
};

#define READERS_FROM SENSORS_BEAMS
#define OBJECT_AT (READERS_FROM + SENSORS_READERS)
#define DOOR_AT (OBJECT_AT + 1u)
#define BUTTONS_FROM (DOOR_AT + 1u)
#define LINES (BUTTONS_FROM + WHEEL_BUTTON_CODES)

/* The encoder. Steps count the changes of A or B, clockwise is positive, and they wrap. The remainder of a division by
   PERIOD is always the phase that A and B show. So the mark may come a step too early or too late. */
#define PERIOD 4u
#define MARK_STEPS_MAX 2   /* the mark is not wider: a second edge within this distance is a bounce, or a hand */
#define LATE_STEPS 8       /* a turn and this many steps without the mark: it was missed */
#define RATTLE_STEPS_MIN 8u /* so many steps to and fro at one border are a rattle */

struct encoder {
    uint64_t edge_us; /* when the latest edge of A or B came */
    uint32_t steps;
    uint32_t offset;   /* the steps at the border of sector 0 */
    uint32_t place;    /* the steps at a place where the rotor may rattle: there, or one step beside it */
    uint32_t rattled;  /* how many steps the rotor has stayed at this place */
    int32_t from_mark; /* the steps since the mark */
    uint8_t rattled_marks; /* how many edges of the mark came meanwhile */
    uint8_t phase;
    int8_t way;      /* 1 clockwise, -1 counter-clockwise, 0 unknown */
    int8_t mark_way; /* the way of the rotor at the latest mark */
    bool a;
    bool b;
    bool zero;
    bool a_read; /* A was read, and no edge came since. One from just before may still come, and repeats the level */
    bool b_read;
    bool has_phase;
    bool has_offset;
    bool known; /* the place is proven, so edges are sent */
    bool lost;  /* the place was lost, and the encoder was reported as failed */
    bool dead;  /* the self-test found that the encoder does not work */
};

static struct {
    struct layout layout;
    uint16_t zero_tick;
    uint64_t settled_us;
    uint16_t held_told; /* the buttons that are held down, and whose press has its number */
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

/* Lines with two levels */

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

/* Takes the level that the line shows as the settled level, because it has lasted long enough. */
static void change(uint8_t line, uint8_t index)
{
    struct state *const state = state_of(line, index);
    const uint64_t at_us = state->edge_us;
    state->on = state->reads;
    if (rules[line].longest_us == 0u) {
        if (line == (uint8_t)LINE_BUTTON) {
            if (state->on) {
                state->begin_us = at_us;
                sensors.held_told &= (uint16_t)~(1u << index); /* the bit may still be that of an earlier press */
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
        /* the pulse was longer than that of a ball */
    }
}

/* Processes the time up to `now_us`, in which this line had no edge. */
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
        /* the level has not settled yet */
    }
    /* While the line reads free, the pulse may have ended already. */
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

/* The earliest date that a later event of this line can have. */
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

/* The remainder of `one` - `other`, divided by the ticks of a turn: 0 to ticks - 1. */
static uint16_t around(uint32_t one, uint32_t other)
{
    const uint16_t ticks = sensors.layout.rotor_ticks;
    const uint16_t part = (uint16_t)(distance(one, other) % ticks);
    return ((one - other < 0x80000000u) || (part == 0u)) ? part : (uint16_t)(ticks - part);
}

/* The place of the rotor is not certain: no edge is sent until the mark has shown the place. */
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

/* Steps were lost, so phase and place are not known any more. */
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

/* A reader that is blocked while the rotor turns by three pockets has failed, because a ball would have turned with the
   rotor. */
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

/* Processes an edge of the mark. The edge at its lower angle shows the place: it rises when the rotor turns clockwise,
   and falls when it turns counter-clockwise. */
static void mark(bool rises, uint64_t at_us)
{
    struct encoder *const rotor = &sensors.rotor;
    if ((rotor->rattled >= RATTLE_STEPS_MIN) && (rotor->rattled_marks < 2u)) {
        rotor->rattled_marks++;
    }
    if (rotor->rattled_marks > 1u) {
        doubt(at_us); /* a rotor that only rattles cannot pass its mark twice, so A or B is dead */
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
    const bool between = from_zero - offset == 2u;                       /* two places are equally near */
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
        doubt(now_us); /* no encoder has such a number of ticks: the configuration does not fit the board */
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
        if (event->at_us >= state_of(LINE_BUTTON, event->value)->begin_us) { /* it is the latest press */
            sensors.held_told |= (uint16_t)(1u << event->value);
        }
    } else if (event->kind == WHEEL_KIND_OBJECT) {
        sensors.object_told = event->value == 1u;
    } else if (event->kind == WHEEL_KIND_DOOR) {
        sensors.door_told = event->value == 1u;
    } else {
        /* the event is not of a contact */
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
    /* The levels of the door have the same codes. */
    return (uint8_t)(known ? (on ? WHEEL_OBJECT_PRESENT : WHEEL_OBJECT_CLEAR) : WHEEL_OBJECT_UNKNOWN);
}

void sensors_levels(struct levels *levels)
{
    levels->beams_blocked = bits_on(LINE_BEAM);
    levels->readers_blocked = bits_on(LINE_READER);
    sensors.held_told &= bits_on(LINE_BUTTON); /* no event shows that a button was released */
    levels->buttons_held = sensors.held_told;
    levels->object = stand(sensors.layout.object_sensor && sensors_work(WHEEL_SENSOR_OBJECT, 0), sensors.object_told);
    levels->door = stand(sensors.layout.door_switch, sensors.door_told);
}

/* Returns where the finding of the self-test about a sensor is kept. `failed` becomes true if the sensor has failed for
   another reason. */
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
