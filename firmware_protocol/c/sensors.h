/* Makes events from the edges of lines: settled levels, the middle of a pulse, sensors that fail, the encoder. For the
   rules see ../README.md, "From an edge to an event". The state is static, like that of the board. */
#ifndef SENSORS_H
#define SENSORS_H

#include "codec.h"

/* A port with little memory sets these to the numbers of its lines. */
#ifndef SENSORS_BEAMS
#define SENSORS_BEAMS WHEEL_BEAMS_MAX
#endif
#ifndef SENSORS_READERS
#define SENSORS_READERS WHEEL_READERS_MAX
#endif

enum line { LINE_BEAM, LINE_READER, LINE_OBJECT, LINE_DOOR, LINE_BUTTON, LINE_ROTOR_A, LINE_ROTOR_B, LINE_ROTOR_ZERO };

/* A line is on or off from `at_us` on. It is on if something blocks the beam or the reader, if an object is in the
   cylinder, if the door is open, or if the button is held down. When the rotor turns clockwise, A changes before B. */
struct edge {
    uint64_t at_us;
    uint8_t line;
    uint8_t index; /* the number of a beam or a reader, or the code of a button; else 0 */
    bool on;
};

/* Reads the levels of all lines. `zero_tick`: the sector in which the rotor is when its mark passes the sensor. */
void sensors_start(const struct layout *layout, uint16_t zero_tick, uint64_t now_us);

/* Processes an edge. Edges must come in the order of their dates. */
void sensors_edge(const struct edge *edge);

/* Call this after edges were missed: it reads the levels of all lines again. */
void sensors_missed(uint64_t now_us);

/* Call this when all edges up to `now_us` have been processed. Returns the settled time. */
uint64_t sensors_until(uint64_t now_us);

/* Call this when an event has got its number. The levels of contacts in a heartbeat change at that moment. */
void sensors_numbered(const struct event *event);

void sensors_levels(struct levels *levels);

/* Call this at the end of a self-test: it asks the port for the results. */
void sensors_tested(uint64_t now_us);

/* Whether the sensor works: false after it has failed, until it works again. */
bool sensors_work(uint8_t sensor, uint16_t index);

#endif
