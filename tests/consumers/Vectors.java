import static java.nio.charset.StandardCharsets.UTF_8;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.spec.X509EncodedKeySpec;
import java.util.Base64;
import java.util.Scanner;

/** The Java consumer on the cases of docs/feed-vectors.json: java Vectors ROOT KEY, where KEY is the PEM without its
 *  first and last line. A case a line: whether the key is configured, how many messages are stored, the topic and the
 *  payload in base64, and as often the topic and payload of what is stored; or "reply", the question's id, user and
 *  from_seq, how many messages are stored, and the payload. A finding a line. */
public class Vectors {
    public static void main(String[] words) throws Exception {
        PublicKey wheel = KeyFactory.getInstance("Ed25519").generatePublic(
            new X509EncodedKeySpec(Base64.getMimeDecoder().decode(words[1])));
        Scanner lines = new Scanner(System.in, UTF_8);
        while (lines.hasNextLine()) {
            String[] part = lines.nextLine().split(" ", -1);
            if (part[0].equals("reply")) {
                Consumer.asked = part[1];
                Consumer.user = part[2];
                Consumer.from = Long.parseLong(part[3]);
                Consumer.chain.seq = Long.parseLong(part[4]);
                System.out.println(Consumer.answered(Json.members(Base64.getDecoder().decode(part[5]))));
                continue;
            }
            FeedMessage.Chain chain = new FeedMessage.Chain();
            for (int at = 3; at < part.length; at += 2) chain.stored(read(words[0], part[at], part[at + 1], null));
            try {
                FeedMessage one = read(words[0], part[1], part[2], part[0].equals("true") ? wheel : null);
                System.out.println(chain.judge(one));
            } catch (FeedMessage.Fault fault) {
                System.out.println(fault.getMessage());
            }
        }
    }
    static FeedMessage read(String root, String topic, String payload, PublicKey key) throws Exception {
        return FeedMessage.read(root, topic, Base64.getDecoder().decode(payload), key);
    }
}
