package org.opendedup.sar.volume;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.volume.send.SnapshotSend;
import org.opendedup.sar.volume.stream.StreamMessage;
import org.opendedup.sar.volume.stream.StreamPoint;
import org.opendedup.sar.volume.stream.StreamPosition;
import org.opendedup.sar.volume.stream.StreamReader;
import org.opendedup.sar.volume.stream.StreamWriter;

/** Streams of snapshots in memory. */
final class TestSender {
    private TestSender() {}

    /** Returns the stream of a snapshot from a position on. */
    static byte[] stream(Volume volume, String target, @Nullable String base, StreamPosition from) throws IOException {
        SnapshotSend send = volume.maintenance().snapshotSend(null, Progress.NONE);
        StreamPoint whole = send.point(target, base);
        var out = new ByteArrayOutputStream();
        var unused = send.run(new StreamPoint(whole.target(), whole.base(), from), out);
        return out.toByteArray();
    }

    static byte[] stream(Volume volume, String target, @Nullable String base) throws IOException {
        return stream(volume, target, base, StreamPosition.START);
    }

    /** Begins to read a stream. */
    static StreamReader begun(byte[] stream) throws IOException {
        return Objects.requireNonNull(StreamReader.begin(new ByteArrayInputStream(stream), "the stream"));
    }

    static List<StreamMessage> messages(byte[] stream) throws IOException {
        List<StreamMessage> messages = new ArrayList<>();
        try (StreamReader in = begun(stream)) {
            do {
                messages.add(in.read());
            } while (!(messages.get(messages.size() - 1) instanceof StreamMessage.End));
        }
        return messages;
    }

    /** Returns the stream with these messages. */
    static byte[] stream(List<StreamMessage> messages) throws IOException {
        var out = new ByteArrayOutputStream();
        try (StreamWriter writer = new StreamWriter(out, null)) {
            for (StreamMessage message : messages) {
                writer.write(message);
            }
            writer.flush();
        }
        return out.toByteArray();
    }
}
