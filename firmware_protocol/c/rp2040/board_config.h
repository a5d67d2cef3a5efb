/* What this board has, and on which pins. Pin n of the RP2040 is GPn on a Pico. */
#ifndef BOARD_CONFIG_H
#define BOARD_CONFIG_H

#define CONFIG_SERIAL "RP-0001"
#define CONFIG_FIRMWARE "rp2040 1.0.0"
/* Give each version of this file another hash, because the host compares it. */
#define CONFIG_HASH {0, 0, 0, 0, 0, 0, 0, 1}
#define CONFIG_ROTOR_TICKS 148u
#define CONFIG_ZERO_TICK 0u

/* Each pin: its line, the index, the pin, whether the line is on while the pin is low. GP0 and GP1 are the UART. */
#define CONFIG_PINS                                                                                                    \
    {                                                                                                                  \
        {LINE_ROTOR_A, 0, 2, false}, {LINE_ROTOR_B, 0, 3, false}, {LINE_ROTOR_ZERO, 0, 4, false},                      \
        {LINE_BEAM, 0, 5, true}, {LINE_BEAM, 1, 6, true}, {LINE_BEAM, 2, 7, true}, {LINE_BEAM, 3, 8, true},            \
        {LINE_READER, 0, 9, true}, {LINE_READER, 1, 10, true}, {LINE_READER, 2, 11, true},                             \
        {LINE_OBJECT, 0, 12, true}, {LINE_DOOR, 0, 13, false},                                                         \
        {LINE_BUTTON, WHEEL_BUTTON_OPERATIONS_DONE, 14, true}, {LINE_BUTTON, WHEEL_BUTTON_RIEN_VA, 15, true},          \
        {LINE_BUTTON, WHEEL_BUTTON_TOUT_VA, 16, true},                                                                 \
    }
#define CONFIG_LAYOUT                                                                                                  \
    {                                                                                                                  \
        .beams = 4, .readers = 3, .rotor_ticks = CONFIG_ROTOR_TICKS, .object_sensor = true, .door_switch = true        \
    }

#endif
