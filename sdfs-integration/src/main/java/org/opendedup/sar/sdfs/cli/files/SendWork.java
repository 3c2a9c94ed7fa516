package org.opendedup.sar.sdfs.cli.files;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.control.ByteConnection;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.jobs.RunningJob;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.send.SendReport;
import org.opendedup.sar.volume.send.SnapshotSend;
import org.opendedup.sar.volume.stream.StreamKeys;
import org.opendedup.sar.volume.stream.StreamPoint;

/** Sends a snapshot over the connection of the command that asked for it. */
final class SendWork implements RunningJob.Work<Map<String, Object>> {
    /** Time in which a command takes the stream that it asked for, in seconds. */
    private static final int TAKING_SECONDS = 60;

    private static final int STEP_MS = 100;
    private static final String STREAM_BYTES = "streamBytes";

    private final Volume volume;
    private final @Nullable StreamKeys keys;
    private final Request request;
    private final CompletableFuture<ByteConnection> connection = new CompletableFuture<>();
    private final CountDownLatch ended = new CountDownLatch(1);

    /**
     * What is to be sent.
     *
     * @param snapshot name of the snapshot; empty if {@code resume} says it
     * @param since name of an earlier one that the receiver has; null: it has none, or says so itself
     * @param resume where the stream begins; null: at its beginning
     * @param answers whether the receiver answers over the same connection
     */
    record Request(
            String snapshot,
            @Nullable String since,
            @Nullable StreamPoint resume,
            boolean answers) {}

    SendWork(Volume volume, @Nullable StreamKeys keys, Request request) {
        this.volume = volume;
        this.keys = keys;
        this.request = request;
    }

    /** Gives the job the connection to its command; returns when the job ends, or the command is gone. */
    void take(ByteConnection client) throws IOException {
        connection.complete(client);
        // Of a receiver that answers, the job itself notices that it is gone.
        if (!request.answers && client.in().read() >= 0) {
            throw new IOException("a command that takes a stream does not send bytes");
        }
        try {
            while (request.answers && !ended.await(STEP_MS, TimeUnit.MILLISECONDS)) {}
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public Map<String, Object> run(RunningJob<Map<String, Object>> job) throws IOException {
        try (ByteConnection client = awaitConnection(job)) {
            SnapshotSend send = volume.maintenance().snapshotSend(keys, job);
            job.reports(() -> Map.of(STREAM_BYTES, send.streamBytes()));
            SendReport report = run(send, client);
            client.endOutput();
            return Json.values(report);
        } finally {
            ended.countDown();
        }
    }

    private SendReport run(SnapshotSend send, ByteConnection client) throws IOException {
        if (request.answers) {
            return send.run(request.snapshot, request.since, client.out(), client.in());
        }
        StreamPoint point = request.resume;
        return send.run(point == null ? send.point(request.snapshot, request.since) : point, client.out());
    }

    private ByteConnection awaitConnection(RunningJob<Map<String, Object>> job) throws IOException {
        for (int step = 0; step < TAKING_SECONDS * 1000 / STEP_MS; step++) {
            job.checkStopped();
            try {
                return connection.get(STEP_MS, TimeUnit.MILLISECONDS);
            } catch (TimeoutException e) {
                // Asked again.
            } catch (InterruptedException | ExecutionException e) {
                throw new IOException("the command did not take the stream", e);
            }
        }
        throw new IOException("the command did not take the stream in time");
    }
}
