package org.opendedup.sar.sdfs.http;

import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Threads;

/**
 * The JDK's server of HTTP, of which a client can bind few resources: connections and threads are bounded, and a
 * connection ends whose request or answer takes too long.
 */
public final class BoundedHttpServer implements Closeable {
    /** Connections that the kernel accepts before the server does. */
    private static final int WAITING_MAX = 64;

    /** Settings of the JDK's server, which reads them once, when its first one is made. Times are in seconds. */
    private static final Map<String, String> BOUNDS = Map.of(
            "sun.net.httpserver.maxReqTime", "10",
            // Longer than a daemon may take for what the console asks.
            "sun.net.httpserver.maxRspTime", "60",
            "sun.net.httpserver.maxReqHeaders", "60");

    private static final String CONNECTIONS = "jdk.httpserver.maxConnections";

    private final HttpServer server;
    private final ThreadPoolExecutor threads;

    /**
     * Begins to listen; {@link #start} begins to answer.
     *
     * @param address where; port 0: any free one
     * @param tls null: without TLS
     * @param connections largest number of connections, and of threads: a client that is slow holds one
     * @param name of the threads
     * @param handler answers all requests
     * @throws IOException if the address cannot be used
     */
    public BoundedHttpServer(
            InetSocketAddress address, @Nullable SSLContext tls, int connections, String name, HttpHandler handler)
            throws IOException {
        BOUNDS.forEach(BoundedHttpServer::setDefault);
        setDefault(CONNECTIONS, Integer.toString(connections));
        if (tls == null) {
            server = HttpServer.create(address, WAITING_MAX);
        } else {
            HttpsServer secure = HttpsServer.create(address, WAITING_MAX);
            secure.setHttpsConfigurator(new HttpsConfigurator(tls));
            server = secure;
        }
        threads = new ThreadPoolExecutor(
                connections, connections, 1, TimeUnit.MINUTES, new LinkedBlockingQueue<>(), Threads.named(name));
        threads.allowCoreThreadTimeOut(true);
        server.setExecutor(threads);
        server.createContext("/", handler);
    }

    /** What the administrator set goes before it. */
    private static void setDefault(String name, String value) {
        if (System.getProperty(name) == null) {
            System.setProperty(name, value);
        }
    }

    public void start() {
        server.start();
    }

    /** Returns the address at which it listens. */
    public InetSocketAddress address() {
        return server.getAddress();
    }

    /** Ends to listen, and drops connections. Idempotent. */
    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
