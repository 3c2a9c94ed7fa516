package org.opendedup.sar.sdfs.cli.console;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/**
 * Where the console listens.
 *
 * @param host as it was given: an address, or a name of this machine
 * @param port 0: any free one
 */
public record ListenAddress(String host, int port) {
    private static final int PORT_MAX = 65535;

    /**
     * Parses {@code HOST:PORT}; an IPv6 address is in square brackets.
     *
     * @throws IllegalArgumentException if it is none; the message says what is wrong
     */
    public static ListenAddress parse(String text) {
        int colon = text.lastIndexOf(':');
        String host = colon < 0 ? "" : text.substring(0, colon).replaceFirst("^\\[(.*)\\]$", "$1");
        if (host.isEmpty() || !text.substring(colon + 1).matches("\\d{1,5}")) {
            throw new IllegalArgumentException("'" + text + "' is not HOST:PORT, such as 127.0.0.1:8770");
        }
        int port = Integer.parseInt(text.substring(colon + 1));
        if (port > PORT_MAX) {
            throw new IllegalArgumentException("the port is " + port + "; it must be from 0 to " + PORT_MAX);
        }
        return new ListenAddress(host, port);
    }

    /** @throws UnknownHostException if the host is no address, and no name has one */
    InetSocketAddress socketAddress() throws UnknownHostException {
        return new InetSocketAddress(InetAddress.getByName(host), port);
    }

    /** Returns whether only programs of this machine can connect. */
    public boolean isLoopback() throws UnknownHostException {
        return InetAddress.getByName(host).isLoopbackAddress();
    }
}
