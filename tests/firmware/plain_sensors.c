/* In place of sensors.c: a board of which a test makes the events itself. Only a failed sensor has a memory. */
#include "sensors.h"

#include "port.h"

void put_events(void); /* of harness.c */

static const struct layout *layout;
static bool failed[4][16];
static bool stands[2];
static uint16_t held;

void sensors_start(const struct layout *of, uint16_t zero_tick, uint64_t now_us)
{
    (void)zero_tick;
    (void)now_us;
    layout = of;
    held = 0;
    for (uint8_t button = 0; button < WHEEL_BUTTON_CODES; button++) {
        held |= (uint16_t)(port_line_is_on(LINE_BUTTON, button) << button);
    }
}
void sensors_edge(const struct edge *edge)
{
    if (edge->line == LINE_BUTTON) {
        held = (uint16_t)(edge->on ? held | 1u << edge->index : held & ~(1u << edge->index));
    }
}
void sensors_missed(uint64_t now_us) { (void)now_us; }
uint64_t sensors_until(uint64_t now_us)
{
    put_events();
    return now_us;
}
void sensors_tested(uint64_t now_us) { (void)now_us; }
bool sensors_work(uint8_t sensor, uint16_t index) { return !failed[sensor][index]; }
void sensors_numbered(const struct event *event)
{
    if (event->kind == WHEEL_KIND_FAILED || event->kind == WHEEL_KIND_WORKS) {
        failed[event->value][event->index] = event->kind == WHEEL_KIND_FAILED;
    } else if (event->kind == WHEEL_KIND_OBJECT) {
        stands[0] = event->value == 1;
    } else if (event->kind == WHEEL_KIND_DOOR) {
        stands[1] = event->value == 1;
    }
}
void sensors_levels(struct levels *levels)
{
    *levels = (struct levels){.buttons_held = held, .object = WHEEL_OBJECT_UNKNOWN, .door = WHEEL_OBJECT_UNKNOWN};
    for (uint16_t index = 0; index < 16; index++) {
        levels->beams_blocked |= (uint16_t)(failed[WHEEL_SENSOR_BEAM][index] << index);
        levels->readers_blocked |= (uint16_t)(failed[WHEEL_SENSOR_READER][index] << index);
    }
    if (layout->object_sensor && !failed[WHEEL_SENSOR_OBJECT][0]) {
        levels->object = stands[0] ? WHEEL_OBJECT_PRESENT : WHEEL_OBJECT_CLEAR;
    }
    if (layout->door_switch) {
        levels->door = stands[1] ? WHEEL_OBJECT_PRESENT : WHEEL_OBJECT_CLEAR;
    }
}
