/* What this board has, and on which pins: pin n is PCn of an STM32F205. The UART is PA9 (to the host) and PA10. */
#ifndef BOARD_CONFIG_H
#define BOARD_CONFIG_H

#define CONFIG_SERIAL "STM-0001"
#define CONFIG_FIRMWARE "stm32f205 1.0.0"
/* Give each version of this file another hash, because the host compares it. */
#define CONFIG_HASH {0, 0, 0, 0, 0, 0, 0, 1}
#define CONFIG_CRYSTAL_MHZ 25u
#define CONFIG_ROTOR_TICKS 148u
#define CONFIG_ZERO_TICK 0u

/* Each pin: its line, the index, the pin, whether the line is on while the pin is low. */
#define CONFIG_PINS                                                                                                    \
    {                                                                                                                  \
        {LINE_ROTOR_A, 0, 0, false}, {LINE_ROTOR_B, 0, 1, false}, {LINE_ROTOR_ZERO, 0, 2, false},                      \
        {LINE_BEAM, 0, 3, true}, {LINE_BEAM, 1, 4, true}, {LINE_BEAM, 2, 5, true}, {LINE_BEAM, 3, 6, true},            \
        {LINE_READER, 0, 7, true}, {LINE_READER, 1, 8, true}, {LINE_READER, 2, 9, true},                               \
        {LINE_OBJECT, 0, 10, true}, {LINE_DOOR, 0, 11, false},                                                         \
        {LINE_BUTTON, WHEEL_BUTTON_OPERATIONS_DONE, 12, true}, {LINE_BUTTON, WHEEL_BUTTON_RIEN_VA, 13, true},          \
        {LINE_BUTTON, WHEEL_BUTTON_TOUT_VA, 14, true},                                                                 \
    }
#define CONFIG_LAYOUT                                                                                                  \
    {                                                                                                                  \
        .beams = 4, .readers = 3, .rotor_ticks = CONFIG_ROTOR_TICKS, .object_sensor = true, .door_switch = true        \
    }

#endif
