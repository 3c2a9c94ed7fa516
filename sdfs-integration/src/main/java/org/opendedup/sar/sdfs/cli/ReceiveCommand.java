package org.opendedup.sar.sdfs.cli;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.io.StandardOutput;
import org.opendedup.sar.keys.KeyException;
import org.opendedup.sar.keys.KeyHeader;
import org.opendedup.sar.keys.Secret;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.OnInterrupt;
import org.opendedup.sar.sdfs.cli.command.ProgressLine;
import org.opendedup.sar.sdfs.cli.keys.SecretOptions;
import org.opendedup.sar.sdfs.cli.keys.StreamSecretOptions;
import org.opendedup.sar.sdfs.cli.report.FailureText;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.keys.SecretSource;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.receive.SnapshotReceiver;
import org.opendedup.sar.volume.receive.SnapshotReceiver.Received;
import org.opendedup.sar.volume.stream.StreamMessage;
import org.opendedup.sar.volume.stream.StreamPoint;
import org.opendedup.sar.volume.stream.StreamReader;
import org.opendedup.sar.volume.stream.StreamWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code sdfscli VOLUME receive}: receives snapshots of another volume, in the process of the command. */
@Command(
        name = "receive",
        description = {
            "Receives snapshots that 'send' of another volume writes, from the standard input.",
            "",
            "The volume must not be mounted. The first stream has everything, and needs a new volume; it makes the",
            "volume a replica, whose files programs read and nothing else changes. Each further "
                    + "stream has what changed",
            "since a snapshot that both volumes have. A snapshot is there when its stream was "
                    + "received to its end, with",
            "the name and the time that it has in the other volume."
        },
        footer = {
            "If a stream ends early, or the machine stops, what was received stays. Until the rest "
                    + "is there, the volume",
            "cannot be mounted. With 'send --to' the next call goes on by itself; else the error names what",
            "'send --resume' needs, as does this command with an empty input.",
            "",
            "Bytes that the volume has already are not stored a second time, and 'send --to' does not send them.",
            "Limits of quotas are not sent. What is sent of an encrypted volume is encrypted; --stream-passphrase-file",
            "names its passphrase, and has another stream refused. docs/operations/replica.md says more.",
            "",
            "Exit codes:  0 received   1 failed, or not received to its end   7 wrong passphrase or key, or none",
            "             64 wrong usage",
            "",
            "Examples:",
            "  mkfs.sdfs --volume-name=copy0 --volume-capacity=10TB",
            "  sdfscli pool0 send monday | ssh host sdfscli copy0 receive",
            "  sdfscli pool0 send tuesday --to='ssh host sdfscli copy0 receive --answer'",
            "  sdfscli copy0 receive < /mnt/disk/monday.stream",
            "  sdfscli copy0 receive --end                     # from now on, programs use the copy"
        })
final class ReceiveCommand extends VolumeCommand {
    private static final int BUFFER_BYTES = 1 << 20;

    @Option(
            names = "--answer",
            description = "Tell the sender, on the standard output, what the volume has: for 'send --to'.")
    boolean answers;

    @Option(
            names = "--discard-changes",
            description = "Give up what was changed in the volume since the snapshot on which the stream is based.")
    boolean discards;

    @Option(
            names = "--abort",
            description = "Receive nothing. Give up the snapshot that was not received to its end: the files are those "
                    + "of the snapshot before again. If it was the first, the volume is empty.")
    boolean aborts;

    @Option(
            names = "--end",
            description = "Receive nothing. Make the replica an ordinary volume, which programs can change. Later it "
                    + "receives again with --discard-changes.")
    boolean ends;

    @Mixin
    SecretOptions secrets = new SecretOptions();

    @Mixin
    StreamSecretOptions streamSecrets = new StreamSecretOptions();

    /** A snapshot that was received; the other figures are those of {@link Received}. */
    record Report(
            String snapshot,
            String identity,
            long files,
            long logicalBytes,
            long removed,
            long changed,
            long chunks,
            long chunkBytes,
            long streamBytes) {
        static Report of(Received received) {
            var record = received.snapshot();
            return new Report(
                    record.name(),
                    String.valueOf(record.origin()),
                    record.files(),
                    record.logicalBytes(),
                    received.removed(),
                    received.changed(),
                    received.chunks(),
                    received.chunkBytes(),
                    received.streamBytes());
        }

        String text() {
            return String.format(
                    Locale.ROOT,
                    "Received snapshot %s: %d files changed, %d removed; %s in %d chunks, by a stream of %s.",
                    Printable.line(snapshot),
                    changed,
                    removed,
                    ByteSize.rounded(chunkBytes),
                    chunks,
                    ByteSize.rounded(streamBytes));
        }
    }

    @Override
    public Integer call() throws IOException, CommandFailedException {
        if ((aborts ? 1 : 0) + (ends ? 1 : 0) + (answers || discards ? 1 : 0) > 1) {
            throw usage("--abort and --end receive nothing, and exclude each other and the other options");
        }
        return new UnmountedVolume(cli()).use(secrets.source(), "", this::run);
    }

    private int run(VolumeConfig config) throws IOException {
        try (SnapshotReceiver receiver = SnapshotReceiver.open(config)) {
            if (aborts) {
                receiver.abort();
                note("abort", "");
                print(named(Map.of("done", "aborted")), "Gave the snapshot up.");
                return ExitCode.OK;
            }
            if (ends) {
                receiver.end();
                note("end", "");
                print(named(Map.of("done", "ended")), cli().name() + " is an ordinary volume now.");
                return ExitCode.OK;
            }
            receive(receiver);
            return ExitCode.OK;
        }
    }

    private void receive(SnapshotReceiver receiver) throws IOException {
        InputStream in = new BufferedInputStream(System.in, BUFFER_BYTES);
        if (!answers) {
            List<Report> received;
            // With an answer, the sender says what comes of it.
            try (var unused = new OnInterrupt("sdfscli-interrupted", this::sayInterrupted)) {
                received = receive(receiver, in, null);
            }
            if (received.isEmpty()) {
                throw withPoint(new EOFException("there is no stream on the standard input"), receiver);
            }
            var all = new LinkedHashMap<String, Object>();
            all.put("received", received.stream().map(Json::values).toList());
            print(named(all), text(received));
            return;
        }
        try (StreamWriter out = new StreamWriter(StandardOutput.stream(), null)) {
            out.write(receiver.greeting());
            out.flush();
            try {
                List<Report> received = receive(receiver, in, out);
                // Nothing is sent if the volume has the snapshot already.
                if (!received.isEmpty()) {
                    out.write(new StreamMessage.Received());
                    out.flush();
                    cli().environment().err().println(text(received));
                }
            } catch (IOException e) {
                refuse(out, e);
                throw e;
            }
        }
    }

    private void sayInterrupted() {
        cli().environment()
                .err()
                .println(
                        "sdfscli: receiving is interrupted, and what was received stays: the same stream again goes on,"
                                + " or 'send --resume' with the point that sdfscli " + cli().name()
                                + " receive < /dev/null names");
        cli().environment().err().flush();
    }

    private void note(String action, String snapshot) throws IOException {
        new UnmountedVolume(cli())
                .note(
                        "receive",
                        snapshot.isEmpty() ? Map.of("action", action) : Map.of("action", action, "snapshot", snapshot));
    }

    private static String text(List<Report> received) {
        return String.join("\n", received.stream().map(Report::text).toList());
    }

    private static void refuse(StreamWriter out, IOException why) {
        // This fails if the sender is gone: that is why.
        Closing.after(why, () -> {
            out.write(new StreamMessage.Refused(FailureText.of(why)));
            out.flush();
        });
    }

    private List<Report> receive(SnapshotReceiver receiver, InputStream in, @Nullable StreamWriter answering)
            throws IOException {
        var received = new ArrayList<Report>();
        ProgressLine line = new ProgressLine(cli().environment());
        try {
            // One that is told what was received sends nothing more until then.
            boolean isOnly = answering != null;
            for (StreamReader stream = begin(in); stream != null; stream = isOnly ? null : begin(in)) {
                try (StreamReader begun = stream) {
                    Report report = Report.of(receiver.receive(
                            begun,
                            answering,
                            discards,
                            (stage, done, of) -> line.show("received " + ByteSize.rounded(done))));
                    received.add(report);
                    note("received", report.snapshot);
                }
            }
        } catch (KeyException e) {
            throw e;
        } catch (IOException e) {
            throw after(received, withPoint(e, receiver));
        } finally {
            line.clear();
        }
        return received;
    }

    private @Nullable StreamReader begin(InputStream in) throws IOException {
        StreamReader stream = StreamReader.begin(in, "the stream");
        SecretSource source = streamSecrets.source();
        if (stream != null && !stream.isSealed() && source.isGiven()) {
            throw new IOException("the stream is not encrypted, and a passphrase or key of the volume that was sent is"
                    + " given: if that volume is encrypted, somebody put another stream in the place of its own; else"
                    + " leave the passphrase or key out. Nothing of the stream was received");
        }
        if (stream != null && stream.isSealed()) {
            KeyHeader header = KeyHeader.read(stream.keyHeader());
            try (Secret secret = source.get(cli().environment(), "Passphrase of the volume that was sent: ");
                    KeyHeader.Opened opened = header.open(secret)) {
                stream.unseal(opened.keys());
            }
        }
        return stream;
    }

    /** Returns a failure that names what was received before it, from the same input. */
    private static IOException after(List<Report> received, IOException failure) {
        if (received.isEmpty()) {
            return failure;
        }
        String names = String.join(
                ", ",
                received.stream()
                        .map(report -> Printable.line(report.snapshot()))
                        .toList());
        return new IOException("received " + names + ", and then failed: " + FailureText.of(failure), failure);
    }

    /** Returns a failure that says where the next stream goes on. */
    private static IOException withPoint(IOException failure, SnapshotReceiver receiver) throws IOException {
        StreamPoint reached = receiver.reached();
        return reached == null
                ? failure
                : new IOException(
                        FailureText.of(failure) + ". What was received stays; go on with: send --resume=" + reached,
                        failure);
    }
}
