package org.opendedup.sar.s3;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/**
 * Forwards connections to a server, and breaks some requests: closes the connection somewhere in the request or in its
 * answer, is silent from there on, refuses the request as an overloaded server does, or is late. So requests do not
 * arrive, are cut, or are made while their answer is lost.
 */
final class FaultyProxy implements Closeable {
    private static final int PIECE_BYTES = 64 << 10;
    private static final int MOST_DELAY_MILLIS = 300;
    private static final byte[] REFUSED =
            "HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".getBytes(US_ASCII);

    private final ServerSocket listener;
    private final InetSocketAddress server;
    private final Random random;
    private final double share;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    /** Guarded by random. */
    private int faults;

    /** @param share of the requests that meet a fault, if they and their answers are long enough */
    FaultyProxy(InetSocketAddress server, double share, long seed) throws IOException {
        this(server, share, seed, InetAddress.getLoopbackAddress());
    }

    private FaultyProxy(InetSocketAddress server, double share, long seed, InetAddress own) throws IOException {
        this.server = server;
        this.share = share;
        random = new Random(seed);
        listener = new ServerSocket(0, 0, own);
        threads.execute(this::accept);
    }

    /**
     * Runs as a process of its own until its input ends: {@code PORT SHARE SEED ADDRESS}, the port of the server on
     * this machine, the rest as of the constructor, and the address where it listens. Prints the port where it listens.
     */
    public static void main(String[] arguments) throws IOException {
        InetSocketAddress server =
                new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(arguments[0]));
        InetAddress own = InetAddress.getByName(arguments[3]);
        try (FaultyProxy proxy =
                new FaultyProxy(server, Double.parseDouble(arguments[1]), Long.parseLong(arguments[2]), own)) {
            System.out.println(proxy.endpoint().getPort());
            while (System.in.read() >= 0) {
                // Waits for the end.
            }
        }
    }

    URI endpoint() {
        return URI.create("http://127.0.0.1:" + listener.getLocalPort());
    }

    /** Returns how many requests were to meet a fault. */
    int faults() {
        synchronized (random) {
            return faults;
        }
    }

    private enum Fault {
        CUT,
        SILENCE,
        REFUSAL,
        DELAY
    }

    /** What becomes of the requests of a connection, one after the other. */
    private final class Course {
        private boolean isAnswered = true;
        private @Nullable Fault fault;
        private boolean isInAnswer;
        private int delayMillis;
        /** Bytes that pass before the fault. */
        private int left;

        /** Returns how many of the next bytes pass in a direction, fewer than there are at a fault. */
        synchronized int passing(boolean isAnswer, int bytes) {
            if (!isAnswer && isAnswered) {
                isAnswered = false;
                plan();
            }
            isAnswered |= isAnswer;
            if (fault == Fault.REFUSAL) {
                return 0;
            } else if (fault == Fault.DELAY) {
                return bytes;
            } else if (fault != null && isAnswer && !isInAnswer) {
                // What is answered to a part of a request does not arrive any more.
                return 0;
            } else if (fault == null || isAnswer != isInAnswer) {
                return bytes;
            }
            int passing = Math.min(bytes, left);
            left -= passing;
            return passing;
        }

        private void plan() {
            synchronized (random) {
                fault = null;
                if (random.nextDouble() < share) {
                    faults++;
                    fault = Fault.values()[random.nextInt(Fault.values().length)];
                    isInAnswer = random.nextBoolean();
                    // Nothing, or some part of the headers, or of the bytes.
                    left = random.nextInt(1 << random.nextInt(18));
                    delayMillis = fault == Fault.DELAY ? random.nextInt(MOST_DELAY_MILLIS) : 0;
                }
            }
        }

        synchronized boolean isSilent() {
            return fault == Fault.SILENCE;
        }

        synchronized boolean isRefused() {
            return fault == Fault.REFUSAL;
        }

        /** Returns for how long the next bytes wait, once. */
        synchronized int takeDelay() {
            int taken = delayMillis;
            delayMillis = 0;
            return taken;
        }
    }

    private void accept() {
        try {
            while (true) {
                Socket client = listener.accept();
                sockets.add(client);
                Socket to;
                try {
                    to = new Socket(server.getAddress(), server.getPort());
                } catch (ConnectException e) {
                    // The server was killed, and may come back.
                    sockets.remove(client);
                    client.close();
                    continue;
                }
                sockets.add(to);
                Course course = new Course();
                threads.execute(() -> forward(client, to, course, false));
                threads.execute(() -> forward(to, client, course, true));
            }
        } catch (IOException e) {
            // It was closed.
        }
    }

    private void forward(Socket from, Socket to, Course course, boolean isAnswer) {
        try (from;
                to) {
            InputStream input = from.getInputStream();
            OutputStream output = to.getOutputStream();
            byte[] piece = new byte[PIECE_BYTES];
            for (int read = input.read(piece); read >= 0; read = input.read(piece)) {
                int passing = course.passing(isAnswer, read);
                Thread.sleep(course.takeDelay());
                output.write(piece, 0, passing);
                output.flush();
                if (passing < read) {
                    if (course.isRefused() && !isAnswer) {
                        from.getOutputStream().write(REFUSED);
                        from.shutdownOutput();
                        while (input.read(piece) >= 0) {
                            // Else the client may lose the answer with the connection.
                        }
                    }
                    while (course.isSilent() && input.read(piece) >= 0) {
                        // Forwards nothing, until who waits gives up.
                    }
                    return;
                }
            }
        } catch (IOException e) {
            // The other direction was broken.
        } catch (InterruptedException e) {
            // It is closed.
        } finally {
            sockets.remove(from);
            sockets.remove(to);
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
        for (Socket socket : sockets) {
            socket.close();
        }
        threads.shutdownNow();
    }
}
