import static java.nio.charset.StandardCharsets.*;
import java.io.*;
import java.nio.file.*;
import java.security.*;
import java.util.*;
import java.util.regex.*;

/** One message of the feed, checked by itself (docs/feed.md). `first` is its own seq, or the first of those before it
 *  that the wheel has not any more. It needs nothing but the JDK: use it with the MQTT client that you have. */
public record FeedMessage(String topic, byte[] payload, long seq, long first, String prev, String hash) {
    @SuppressWarnings("serial") static final class Fault extends Exception { Fault(String name) { super(name); } }
    static final Pattern CLOSED = Pattern.compile("(.*,\"prev\":\"([0-9a-f]{64})\"),\"hash\":\"([0-9a-f]{64})\""
        + "(?:,\"signature\":\"([A-Za-z0-9+/]{86}==)\")?\\}", Pattern.DOTALL);
    static FeedMessage read(String root, String topic, byte[] payload, PublicKey key) throws Exception {
        String body = new String(payload, UTF_8);
        long seq = number(member(body, "seq")), first = number(member(body, "first_seq"));
        fault(payload.length > 65_536 || seq < 1 || !body.strip().endsWith("}"), "malformed");
        Matcher closed = CLOSED.matcher(new String(payload, ISO_8859_1)); // a letter for each byte
        fault(!closed.matches(), "edited");
        byte[] made = MessageDigest.getInstance("SHA-256").digest(Arrays.copyOf(payload, closed.end(1)));
        fault(!HexFormat.of().formatHex(made).equals(closed.group(3)), "edited");
        String whose = "wheel/v1/" + member(body, "site") + "/" + member(body, "table") + ": " + member(body, "schema");
        fault(!whose.replace("\"", "").equals(root + ": " + topic + "/1"), "foreign");
        fault(!List.of("", "false").contains(member(body, "test")), "test"); // a bench table's: never pay it
        fault(key != null && !isSigned(closed.group(3), closed.group(4), key), "signature");
        boolean lacks = first > 0 && number(member(body, "last_seq")) == seq - 1;
        return new FeedMessage(topic, payload, seq, lacks ? first : seq, closed.group(2), closed.group(3));
    }
    static boolean isSigned(String hash, String signature, PublicKey key) throws GeneralSecurityException {
        byte[] raw = Base64.getDecoder().decode(signature == null ? "" : signature);
        Signature check = Signature.getInstance("Ed25519");
        check.initVerify(key);
        check.update(hash.getBytes(US_ASCII));
        try {
            return Base64.getEncoder().encodeToString(raw).equals(signature) && check.verify(raw);
        } catch (SignatureException error) { // 64 bytes that nobody can have signed with
            return false;
        }
    }
    /** The value of a member as it is written, "" if there is none. Inside a text every quote has a backslash before
     *  it, so what stands in texts is never found; of members with one name the first is, the outermost of these. */
    static String member(String json, String name) {
        String value = "\\s*:\\s*(\"[^\"\\\\]*\"|[^,{}\\[\\]\"\\s]+)";
        Matcher found = Pattern.compile("[{,]\\s*\"" + name + "\"" + value).matcher(json);
        return found.find() ? found.group(1) : "";
    }
    static long number(String text) { return text.matches("0|[1-9]\\d{0,15}") ? Long.parseLong(text) : -1; }
    static void fault(boolean is, String name) throws Fault { if (is) throw new Fault(name); }

    /** What is stored, and whether a message may be stored next. The file stands for your database. */
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
            if (one.seq <= seq) fault(!known.getOrDefault(one.seq, one.hash).equals(one.hash), "conflict");
            if (one.seq <= seq || one.first > seq + 1) return one.seq <= seq ? "repeat" : "gap";
            fault(one.first == one.seq && !one.prev.equals(hash), "chain");
            return one.seq > seq + 1 ? "lost" : "next";
        }
        void stored(FeedMessage one) {
            known.put(seq = one.seq, hash = one.hash);
            known.remove(seq - 10_000);
        }
    }
}
