import static java.nio.charset.StandardCharsets.ISO_8859_1;
import java.io.*;
import java.nio.file.*;
import java.security.*;
import java.security.spec.X509EncodedKeySpec;
import java.util.*;

/** A consumer of the feed (docs/feed.md): javac *.java; java Consumer ROOT FILE KEY.pem|- -h BROKER OPTIONS
 *  FILE stands for your database: a line for each message, its topic and its bytes. OPTIONS: see Mosquitto.java */
public class Consumer {
    static final FeedMessage.Chain chain = new FeedMessage.Chain();
    static long heardMs = now(), askedMs = -1L << 40, dueMs, waitMs = 1_000, from;
    static boolean wanting, owesAck;
    static String user = "settlement", asked;
    static long now() { return System.nanoTime() / 1_000_000; }
    static void want(long apartMs) {
        if (!wanting) dueMs = Math.max(now() + 500, askedMs + apartMs);
        wanting = true;
    }
    static void take(FeedMessage one, RandomAccessFile file) throws Exception {
        String verdict = chain.judge(one);
        if (verdict.equals("gap")) want(Math.min(waitMs, 10_000));
        else owesAck = true; // of a repeat too: the wheel has not heard the last ack
        if (verdict.equals("gap") || verdict.equals("repeat")) return;
        if (verdict.equals("lost")) System.err.printf("lost: seq %d to %d%n", chain.seq + 1, one.seq() - 1);
        file.write((one.topic() + " " + new String(one.payload(), ISO_8859_1) + "\n").getBytes(ISO_8859_1)); // and pay
        chain.stored(one);
        waitMs = 1_000;
        heardMs = now();
        if (asked != null) dueMs = heardMs + 10_000; // the answer comes behind all that it brings
    }
    /** What a reply says to the question that is open. */
    static String answered(Map<?, ?> reply) {
        List<?> said = Arrays.asList(reply.get("id"), reply.get("user"), reply.get("name"));
        if (asked == null || !said.equals(List.of('"' + asked + '"', '"' + user + '"', "\"resend\""))) return "drop";
        asked = null;
        dueMs = now() + waitMs;
        long last = FeedMessage.number(reply.get("last_seq"));
        if (FeedMessage.isTest(reply) || last < 0) return FeedMessage.isTest(reply) ? "test" : "refused";
        wanting = last > chain.seq;
        return last < from - 1 ? "rolled_back" : wanting ? "more" : "all";
    }
    public static void main(String[] words) throws Exception {
        String root = words[0], pem = words[2].equals("-") ? null : Files.readString(Path.of(words[2]));
        PublicKey key = pem == null ? null : KeyFactory.getInstance("Ed25519").generatePublic(
            new X509EncodedKeySpec(Base64.getMimeDecoder().decode(pem.replaceAll("-----.*?-----", ""))));
        RandomAccessFile file = chain.open(words[1], root, key);
        List<String> options = List.of(words).subList(3, words.length);
        if (options.contains("-u")) user = options.get(options.indexOf("-u") + 1);
        Mosquitto mosquitto = new Mosquitto(root, user, options);
        for (want(0);; Thread.sleep(50)) {
            Mosquitto.Heard heard;
            for (int n = 0; n < 200 && (heard = mosquitto.next()) != null; n++) {
                if (heard.isRetained()) { // a new connection
                    wanting = false;
                    waitMs = 1_000;
                    want(0);
                }
                try {
                    if (heard.leaf().equals("reply")) {
                        String finds = answered(Json.members(heard.payload()));
                        if (List.of("test", "refused", "rolled_back").contains(finds))
                            System.err.printf("the reply to seq %d: %s%n", from, finds); // for a person
                    } else take(FeedMessage.read(root, heard.leaf(), heard.payload(), key), file);
                } catch (FeedMessage.Fault fault) {
                    System.err.printf("refused: %s, %s%n", fault.getMessage(), heard.leaf());
                    if (!fault.getMessage().equals("conflict")) want(10_000);
                }
            }
            if (owesAck) mosquitto.ack(chain.seq); // one for all that came
            owesAck = false;
            if (now() > Math.max(heardMs, askedMs) + 600_000) want(0); // the broker may have kept the last one back
            if (!wanting || now() < dueMs) continue;
            waitMs = Math.min(Math.max(waitMs * 2, 10_000), 300_000);
            dueMs = (askedMs = now()) + waitMs;
            asked = "feed-" + UUID.randomUUID();
            mosquitto.ask(asked, from = chain.seq + 1);
        }
    }
}
