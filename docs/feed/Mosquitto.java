import static java.nio.charset.StandardCharsets.UTF_8;
import java.io.*;
import java.util.*;

/** Carries the messages with mosquitto_sub and mosquitto_pub, which connect again by themselves, so that no library is
 *  needed. If you have an MQTT client, use it instead of this class. `options` are for both: -h, -p, -u ... */
final class Mosquitto {
    /** A message that came. It is retained only just after a new connection. */
    record Heard(String leaf, byte[] payload, boolean isRetained) {}
    private final Process sub, acks, questions;
    private final BufferedReader lines;
    private final String root;

    Mosquitto(String root, String user, List<String> options) throws IOException {
        this.root = root;
        acks = start("mosquitto_pub -l -q 1 -r -t " + root + "/ack", options);
        questions = start("mosquitto_pub -l -q 1 -t " + root + "/cmd/" + user + "/resend", options);
        String leaves = " -t R/result -t R/void -t R/ruling -t R/table -t R/reply".replace("R", root);
        sub = start("mosquitto_sub -q 1 -F %r|%t|%x" + leaves, options);
        lines = sub.inputReader();
    }

    private static Process start(String command, List<String> options) throws IOException {
        List<String> words = new ArrayList<>(List.of(command.split(" ")));
        words.addAll(options);
        return new ProcessBuilder(words).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    /** Returns the next message, or null if none waits. Throws IOException if a program has ended. It has said why. */
    Heard next() throws IOException {
        if (!sub.isAlive() || !acks.isAlive() || !questions.isAlive()) throw new IOException("mosquitto has ended");
        if (!lines.ready()) return null;
        String[] part = lines.readLine().split("\\|", 3);
        return new Heard(part[1].substring(root.length() + 1), HexFormat.of().parseHex(part[2]), part[0].equals("1"));
    }

    void ack(long seq) throws IOException { say(acks, "{\"seq\":" + seq + "}"); }

    void ask(String id, long from) throws IOException {
        String question = "{'id':'%s','by':'Consumer.java','reason':'is anything missing?','from_seq':%d}";
        say(questions, question.formatted(id, from).replace('\'', '"'));
    }

    private static void say(Process to, String line) throws IOException {
        to.getOutputStream().write((line + "\n").getBytes(UTF_8));
        to.getOutputStream().flush();
    }
}
