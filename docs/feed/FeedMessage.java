import static java.nio.charset.StandardCharsets.*;
import java.io.*;
import java.nio.file.*;
import java.security.*;
import java.util.*;
import java.util.regex.*;

/** One message of the feed, checked by itself (docs/feed.md). `first` is its own seq, or the first of the numbers
 *  before it that the wheel has lost. This class needs only the JDK: use it with the MQTT client that you have. */
public record FeedMessage(String topic, byte[] payload, long seq, long first, String prev, String hash) {
    @SuppressWarnings("serial") static final class Fault extends Exception { Fault(String name) { super(name); } }
    static final Pattern CLOSED = Pattern.compile("(.*,\"prev\":\"([0-9a-f]{64})\"),\"hash\":\"([0-9a-f]{64})\""
        + "(?:,\"signature\":\"([A-Za-z0-9+/]{86}==)\")?\\}", Pattern.DOTALL);
    static FeedMessage read(String root, String topic, byte[] payload, PublicKey key) throws Exception {
        Map<?, ?> body = Json.members(payload), gap = body.get("gap") instanceof Map<?, ?> members ? members : Map.of();
        long seq = number(body.get("seq")), first = number(gap.get("first_seq")), last = number(gap.get("last_seq"));
        fault(seq < 1, "malformed");
        fault(body.containsKey("gap") && (first < 1 || first > last || last != seq - 1), "malformed");
        Matcher closed = CLOSED.matcher(new String(payload, ISO_8859_1)); // one letter for each byte
        fault(!closed.matches(), "edited");
        byte[] made = MessageDigest.getInstance("SHA-256").digest(Arrays.copyOf(payload, closed.end(1)));
        fault(!HexFormat.of().formatHex(made).equals(closed.group(3)), "edited");
        String[] part = root.split("/"); // wheel/v1/SITE/TABLE
        List<String> own = List.of('"' + part[2] + '"', '"' + part[3] + '"', '"' + topic + "/1\"");
        fault(!own.equals(Arrays.asList(body.get("site"), body.get("table"), body.get("schema"))), "foreign");
        fault(isTest(body), "test");
        fault(key != null && !isSigned(closed.group(3), closed.group(4), key), "signature");
        boolean isCoup = number(body.get("coup")) >= 0 && String.valueOf(body.get("coup_id")).startsWith("\"");
        fault(List.of("result", "void").contains(topic) && !isCoup, "malformed"); // nothing to pay
        long paid = number(body.get("number"));
        fault(topic.equals("result") && (paid < 0 || paid > 37), "malformed");
        return new FeedMessage(topic, payload, seq, first < 1 ? seq : first, closed.group(2), closed.group(3));
    }
    static boolean isSigned(String hash, String signature, PublicKey key) throws GeneralSecurityException {
        byte[] raw = Base64.getDecoder().decode(signature == null ? "" : signature);
        Signature check = Signature.getInstance("Ed25519");
        check.initVerify(key);
        check.update(hash.getBytes(US_ASCII));
        try {
            return Base64.getEncoder().encodeToString(raw).equals(signature) && check.verify(raw);
        } catch (SignatureException error) { // no signature can have these 64 bytes
            return false;
        }
    }
    /** Whether the message is from a bench table: never pay it. */
    static boolean isTest(Map<?, ?> body) { return body.containsKey("test") && !body.get("test").equals("false"); }
    /** Returns a whole number from 0 to 2^53 - 1, or -1 if the value is no such number. */
    static long number(Object value) {
        long number = value instanceof String text && text.matches("0|[1-9]\\d{0,15}") ? Long.parseLong(text) : -1;
        return number < 1L << 53 ? number : -1;
    }
    static void fault(boolean is, String name) throws Fault { if (is) throw new Fault(name); }

    /** Knows what is stored, and decides whether a message may be stored next. The file takes your database's place. */
    static final class Chain {
        long seq = 0;
        String hash = "0".repeat(64);
        final Map<Long, String> known = new HashMap<>();
        RandomAccessFile open(String path, String root, PublicKey key) throws Exception {
            RandomAccessFile file = new RandomAccessFile(path, "rwd"); // d: each write goes to the disk
            String kept = Files.readString(Path.of(path), ISO_8859_1);
            file.setLength(kept.lastIndexOf('\n') + 1); // a power cut may have left half a line
            file.seek(file.length());
            for (String line : kept.substring(0, (int) file.length()).lines().toList()) {
                String[] part = line.split(" ", 2);
                FeedMessage one = read(root, part[0], part[1].getBytes(ISO_8859_1), key);
                judge(one);
                stored(one);
            }
            return file;
        }
        String judge(FeedMessage one) throws Fault {
            fault(one.seq <= seq && !known.getOrDefault(one.seq, one.hash).equals(one.hash), "conflict");
            if (one.seq <= seq || one.first > seq + 1) return one.seq <= seq ? "repeat" : "gap";
            fault(one.first == one.seq && !one.prev.equals(hash), "chain");
            return one.seq > seq + 1 ? "lost" : "next";
        }
        void stored(FeedMessage one) { known.put(seq = one.seq, hash = one.hash); known.remove(seq - 10_000); }
    }
}
