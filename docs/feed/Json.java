import static java.nio.charset.StandardCharsets.UTF_8;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.*;
import java.util.regex.*;

/** Reads JSON, because the JDK cannot. Use your own reader instead if it refuses a name that an object has twice, and
 *  if 2.0 and 2 are different for it. An object becomes a Map, and a list a List. Numbers and words stay as they are
 *  written, and a text keeps its quotes. */
final class Json {
    private static final Pattern TOKEN = Pattern.compile("[ \t\r\n]*([{}\\[\\],:]|true|false|null"
        + "|-?(?:0|[1-9]\\d*+)(?:\\.\\d++)?(?:[eE][+-]?\\d++)?"
        + "|\"PLAIN(?:\\\\(?:[\"\\\\/bfnrt]|u(?!0000)[0-9a-fA-F]{4})PLAIN)*+\")[ \t\r\n]*"
            .replace("PLAIN", "[^\"\\\\\\x00-\\x1f]*+"));
    private static final Pattern ESCAPE = Pattern.compile("\\\\(?:u(.{4})|(.))");
    private final Matcher token;
    private String next;

    private Json(String text) { token = TOKEN.matcher(text); }

    /** Returns the members of an object. None if this is no object, no JSON in UTF-8, or longer than 65,536 bytes. */
    static Map<?, ?> members(byte[] payload) {
        try {
            need(payload.length <= 65_536);
            Json json = new Json(UTF_8.newDecoder().decode(ByteBuffer.wrap(payload)).toString());
            json.take();
            Object value = json.value();
            return json.next.isEmpty() && value instanceof Map<?, ?> members ? members : Map.of();
        } catch (CharacterCodingException | IllegalArgumentException | StackOverflowError wrong) {
            return Map.of();
        }
    }
    private Object value() {
        String first = take();
        if (first.equals("{")) {
            Map<String, Object> members = new HashMap<>();
            if (!skip("}"))
                do {
                    need(next.startsWith("\""));
                    String name = take();
                    need(skip(":") && members.put(name.substring(1, name.length() - 1), value()) == null);
                } while (skip(","));
            need(members.isEmpty() || skip("}"));
            return members;
        }
        if (first.equals("[")) {
            List<Object> values = new ArrayList<>();
            if (!skip("]"))
                do values.add(value()); while (skip(","));
            need(values.isEmpty() || skip("]"));
            return values;
        }
        need(!first.matches("[]},:]?"));
        return first;
    }
    /** Takes the next token, a text without its escapes. */
    private String take() {
        String taken = next;
        next = "";
        if (token.regionStart() < token.regionEnd()) {
            need(token.lookingAt());
            next = ESCAPE.matcher(token.group(1)).replaceAll(one -> Matcher.quoteReplacement(one.group(1) == null
                ? "\"\\/\b\f\n\r\t".charAt("\"\\/bfnrt".indexOf(one.group(2))) + ""
                : (char) Integer.parseInt(one.group(1), 16) + ""));
            token.region(token.end(), token.regionEnd());
        }
        return taken;
    }
    private boolean skip(String sign) {
        boolean is = next.equals(sign);
        if (is) take();
        return is;
    }
    private static void need(boolean is) { if (!is) throw new IllegalArgumentException(); }
}
