/* From edges of lines to events: settled levels, the middle of a pulse, sensors that fail, the encoder.
   ../README.md, "From an edge to an event". Its state is static, as that of the board. */
#ifndef SENSORS_H
#define SENSORS_H

#include "codec.h"

/* A port with little memory builds for the lines that it has. */
#ifndef SENSORS_BEAMS
#define SENSORS_BEAMS WHEEL_BEAMS_MAX
#endif
#ifndef SENSORS_READERS
#define SENSORS_READERS WHEEL_READERS_MAX
#endif

enum line { LINE_BEAM, LINE_READER, LINE_OBJECT, LINE_DOOR, LINE_BUTTON, LINE_ROTOR_A, LINE_ROTOR_B, LINE_ROTOR_ZERO };

/* A line is on or off from `at_us` on. On: something is before the beam or the reader or in the cylinder, the door is
   open, the button is held down. A changes before B when the rotor turns clockwise. */
struct edge {
    uint64_t at_us;
    uint8_t line;
    uint8_t index; /* of a beam, a reader, or the value of a button; else 0 */
    bool on;
};

/* Reads how all lines stand. `zero_tick`: the sector in which the rotor stands when its mark comes by. */
void sensors_start(const struct layout *layout, uint16_t zero_tick, uint64_t now_us);

/* Edges come in the order of their dates. */
void sensors_edge(const struct edge *edge);

/* Edges were missed: reads how all lines stand now. */
void sensors_missed(uint64_t now_us);

/* All edges up to `now_us` have come. Returns the settled time. */
uint64_t sensors_until(uint64_t now_us);

/* An event has got its number. Levels of contacts change with it. */
void sensors_numbered(const struct event *event);

void sensors_levels(struct levels *levels);

/* The self-test is over: asks the port for what it found. */
void sensors_tested(uint64_t now_us);

/* False while the sensor has failed. */
bool sensors_work(uint8_t sensor, uint16_t index);

#endif
