package org.opendedup.sar.sdfs.cli.console;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.Base64;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import org.opendedup.sar.common.Sha256;
import org.opendedup.sar.sdfs.cli.console.ConsoleUsers.User;

/**
 * Who is logged in. A page sends its token, and a program name and password, in the header {@code Authorization};
 * browsers add neither by themselves, so another page cannot make them. A checked header is remembered by its hash, for
 * a time. Passwords are checked one at a time, because each check costs processor time. Safe for use by many threads.
 */
final class Sessions {
    static final String BEARER = "Bearer ";
    static final String BASIC = "Basic ";

    static final Duration IDLE = Duration.ofMinutes(30);
    static final Duration LONGEST = Duration.ofHours(12);
    private static final int MOST = 100;
    private static final int TOKEN_BYTES = 32;
    private static final int CHECKS_WAITING = 4;
    private static final int PASSWORD_CHARACTERS_MAX = 200;

    private final ConsoleUsers users;
    private final Clock clock;
    private final SecureRandom random = new SecureRandom();
    private final Semaphore waiting = new Semaphore(CHECKS_WAITING);
    private final Object oneCheck = new Object();

    /** By the hash of the header, the one that was used longest ago first. Guarded by this. */
    private final Map<String, Session> sessions = new LinkedHashMap<>(16, 0.75f, true);

    private record Session(String user, String hash, long begunMs, long usedMs) {}

    /** Too many passwords are being checked. */
    static final class BusyException extends IOException {
        private static final long serialVersionUID = 1L;

        BusyException() {
            super("too many passwords are being checked; try again");
        }
    }

    /** A new session. */
    record Login(User user, String token) {}

    Sessions(ConsoleUsers users, Clock clock) {
        this.users = users;
        this.clock = clock;
    }

    /** Begins a session, if the password is right. */
    Optional<Login> login(String name, String password) throws IOException {
        Optional<User> user = checked(name, password);
        if (user.isEmpty()) {
            return Optional.empty();
        }
        byte[] bytes = new byte[TOKEN_BYTES];
        random.nextBytes(bytes);
        String token = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
        remember(BEARER + token, user.get());
        return Optional.of(new Login(user.get(), token));
    }

    private Optional<User> checked(String name, String password) throws IOException {
        if (name.length() > PASSWORD_CHARACTERS_MAX || password.length() > PASSWORD_CHARACTERS_MAX) {
            return Optional.empty();
        }
        if (!waiting.tryAcquire()) {
            throw new BusyException();
        }
        try {
            synchronized (oneCheck) {
                return users.check(name, password);
            }
        } finally {
            waiting.release();
        }
    }

    private synchronized void remember(String header, User user) {
        long now = clock.millis();
        sessions.put(key(header), new Session(user.name(), user.hash(), now, now));
        Iterator<String> oldest = sessions.keySet().iterator();
        while (sessions.size() > MOST) {
            oldest.next();
            oldest.remove();
        }
    }

    /** Returns who sends this header; empty if it is neither of a session nor of name and password. */
    Optional<User> user(String header) throws IOException {
        Optional<User> known = remembered(header);
        if (known.isPresent() || !header.startsWith(BASIC)) {
            return known;
        }
        String[] parts;
        try {
            byte[] decoded =
                    Base64.getDecoder().decode(header.substring(BASIC.length()).strip());
            parts = new String(decoded, StandardCharsets.UTF_8).split(":", 2);
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
        Optional<User> user = parts.length == 2 ? checked(parts[0], parts[1]) : Optional.empty();
        user.ifPresent(found -> remember(header, found));
        return user;
    }

    /** A session ends with its time, and when its user is removed or gets another password. */
    private Optional<User> remembered(String header) throws IOException {
        String key = key(header);
        Session session;
        synchronized (this) {
            session = sessions.get(key);
            long now = clock.millis();
            if (session == null) {
                return Optional.empty();
            }
            if (now - session.usedMs > IDLE.toMillis() || now - session.begunMs > LONGEST.toMillis()) {
                sessions.remove(key);
                return Optional.empty();
            }
            sessions.put(key, new Session(session.user, session.hash, session.begunMs, now));
        }
        String hash = session.hash;
        return users.find(session.user).filter(user -> user.hash().equals(hash));
    }

    synchronized void logout(String header) {
        sessions.remove(key(header));
    }

    private static String key(String header) {
        byte[] hash = Sha256.newDigest().digest(header.getBytes(StandardCharsets.UTF_8));
        return Base64.getEncoder().encodeToString(hash);
    }
}
