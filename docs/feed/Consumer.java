import static java.nio.charset.StandardCharsets.ISO_8859_1;
import java.io.*;
import java.nio.file.*;
import java.security.*;
import java.security.spec.X509EncodedKeySpec;
import java.util.*;

/** A consumer of the feed (docs/feed.md): javac *.java; java Consumer ROOT FILE KEY.pem|- -h BROKER OPTIONS
 *  FILE is in place of your database: a line for each message, its topic and its bytes. OPTIONS: see Mosquitto.java */
public class Consumer {
    static final FeedMessage.Chain chain = new FeedMessage.Chain();
    static long storedMs, askedMs = -1L << 40, waitMs = 10_000, tries, beyond, from, firstMs;
    static boolean unsure, owesAck;
    static String user = "settlement", asked;
    static long now() { return System.nanoTime() / 1_000_000; }
    static void connected() { asked = null; tries = 0; firstMs = now() + 500; owesAck = chain.seq > 0; }
    static long dueMs() {
        long laterMs = Math.max(askedMs, storedMs) + waitMs;
        if (firstMs != 0) return firstMs;
        if (asked != null) return laterMs; // if the question is still open then, its reply is missing
        if (beyond > chain.seq && chain.seq >= from) return askedMs + 1_000; // the last question brought messages
        return unsure || beyond > chain.seq ? laterMs : Math.max(askedMs, storedMs) + 600_000;
    }
    static void take(FeedMessage one, RandomAccessFile file) throws Exception {
        String verdict = chain.judge(one);
        if (verdict.equals("gap")) beyond = Math.max(beyond, one.seq());
        else owesAck = true; // also for a repeat: the wheel has not heard the last ack
        if (verdict.equals("gap") || verdict.equals("repeat")) return;
        if (verdict.equals("lost")) System.err.printf("lost: seq %d to %d%n", chain.seq + 1, one.seq() - 1);
        file.write((one.topic() + " " + new String(one.payload(), ISO_8859_1) + "\n").getBytes(ISO_8859_1)); // pay here
        chain.stored(one);
        storedMs = now(); waitMs = 10_000; tries = 0;
    }
    /** Returns what a reply says to the open question. */
    static String answered(Map<?, ?> reply) {
        List<?> said = Arrays.asList(reply.get("id"), reply.get("user"), reply.get("name"));
        if (asked == null || !said.equals(List.of('"' + asked + '"', '"' + user + '"', "\"resend\""))) return "drop";
        asked = null;
        long last = FeedMessage.number(reply.get("last_seq"));
        unsure |= FeedMessage.isTest(reply) || last < 0;
        if (FeedMessage.isTest(reply) || last < 0) return FeedMessage.isTest(reply) ? "test" : "refused";
        beyond = Math.max(beyond, last);
        if (last < from - 1 || last > chain.seq) return last < from - 1 ? "rolled_back" : "more";
        waitMs = 10_000; tries = 0;
        return "all";
    }
    public static void main(String[] words) throws Exception {
        String root = words[0], pem = words[2].equals("-") ? null : Files.readString(Path.of(words[2]));
        PublicKey key = pem == null ? null : KeyFactory.getInstance("Ed25519").generatePublic(
            new X509EncodedKeySpec(Base64.getMimeDecoder().decode(pem.replaceAll("-----.*?-----", ""))));
        RandomAccessFile file = chain.open(words[1], root, key);
        List<String> options = List.of(words).subList(3, words.length);
        if (options.contains("-u")) user = options.get(options.indexOf("-u") + 1);
        Mosquitto mosquitto = new Mosquitto(root, user, options);
        for (connected();; Thread.sleep(50)) {
            Mosquitto.Heard heard;
            for (int n = 0; n < 200 && (heard = mosquitto.next()) != null; n++) {
                if (heard.isRetained()) connected();
                try {
                    if (heard.leaf().equals("reply")) {
                        String finds = answered(Json.members(heard.payload()));
                        if (List.of("test", "refused", "rolled_back").contains(finds))
                            System.err.printf("the reply to seq %d: %s%n", from, finds); // tell a person
                    } else take(FeedMessage.read(root, heard.leaf(), heard.payload(), key), file);
                } catch (FeedMessage.Fault fault) {
                    System.err.printf("refused: %s, %s%n", fault.getMessage(), heard.leaf());
                    if (!fault.getMessage().equals("conflict")) unsure = true;
                }
            }
            if (owesAck) mosquitto.ack(chain.seq); // one ack covers all messages that came
            owesAck = false;
            if (now() < dueMs()) continue;
            if (asked != null) System.err.printf("no reply to seq %d%n", from);
            waitMs = Math.min(10_000L << Math.min(tries++, 5), 300_000);
            askedMs = now(); unsure = false; beyond = firstMs = 0;
            asked = "feed-" + UUID.randomUUID();
            mosquitto.ask(asked, from = chain.seq + 1);
        }
    }
}
