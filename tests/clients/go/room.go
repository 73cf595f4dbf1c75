package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	auditv1 "sabacc/audit/v1"
	tablev1 "sabacc/table/v1"
)

const (
	// Attempts of a call, and the first wait between them, as proto/service_config.json advises.
	attempts  = 5
	firstWait = 100 * time.Millisecond
	// Time before the end of an access token at which the next one is fetched.
	refreshBefore = time.Minute
)

// Methods that are called without a token, and must not wait for one.
var door = []string{"/SignInAsGuest", "/Refresh"}

// room has the clients of a room's services, over one connection.
type room struct {
	people tablev1.PeopleServiceClient
	tables tablev1.TableServiceClient
	rules  tablev1.RulesServiceClient
	audit  auditv1.AuditServiceClient

	lock   sync.Mutex
	tokens *tablev1.Tokens
}

// connect prepares a connection to a room's public port, such as "http://127.0.0.1:7400".
func connect(url string) (*room, error) {
	r := &room{}
	connection, err := grpc.Dial(strings.TrimPrefix(url, "http://"), grpc.WithInsecure(),
		grpc.WithUnaryInterceptor(r.unary), grpc.WithStreamInterceptor(r.stream))
	if err != nil {
		return nil, err
	}
	r.people = tablev1.NewPeopleServiceClient(connection)
	r.tables = tablev1.NewTableServiceClient(connection)
	r.rules = tablev1.NewRulesServiceClient(connection)
	r.audit = auditv1.NewAuditServiceClient(connection)
	return r, nil
}

// signInAsGuest becomes a new player. Id and secret are kept until there is an answer: repeated, they are the
// same player.
func (r *room) signInAsGuest(
	ctx context.Context, request *tablev1.SignInAsGuestRequest,
) (*tablev1.SignInAsGuestResponse, error) {
	guest, err := r.people.SignInAsGuest(ctx, request)
	if err != nil {
		return nil, err
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	r.tokens = guest.Tokens
	return guest, nil
}

// refresh gets new tokens for the refresh token, which is used up. A client that lives on after its
// program writes the new one to disk before it uses the access token.
func (r *room) refresh(ctx context.Context) error {
	r.lock.Lock()
	defer r.lock.Unlock()
	request := &tablev1.RefreshRequest{RequestId: requestID(), RefreshToken: r.tokens.GetRefreshToken()}
	fresh, err := r.people.Refresh(ctx, request)
	if err == nil {
		r.tokens = fresh.Tokens
	}
	return err
}

func (r *room) withToken(ctx context.Context, method string) (context.Context, error) {
	for _, name := range door {
		if strings.HasSuffix(method, name) {
			return ctx, nil
		}
	}
	r.lock.Lock()
	tokens := r.tokens
	r.lock.Unlock()
	if tokens == nil {
		return ctx, nil
	}
	if time.Until(tokens.AccessExpireTime.AsTime()) < refreshBefore {
		if err := r.refresh(ctx); err != nil {
			return ctx, err
		}
		r.lock.Lock()
		tokens = r.tokens
		r.lock.Unlock()
	}
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+tokens.AccessToken), nil
}

// unary adds the token, and repeats a call where the room is busy or away: it is the same message, so its
// request_id is the same, and it counts once.
func (r *room) unary(ctx context.Context, method string, request, reply interface{}, c *grpc.ClientConn,
	invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	for attempt := 1; ; attempt++ {
		tokened, err := r.withToken(ctx, method)
		if err == nil {
			err = invoke(tokened, method, request, reply, c, options...)
		}
		if err == nil || attempt == attempts || !isPassing(err) {
			return err
		}
		time.Sleep(waitOf(err, attempt))
	}
}

func (r *room) stream(ctx context.Context, d *grpc.StreamDesc, c *grpc.ClientConn, method string,
	open grpc.Streamer, options ...grpc.CallOption) (grpc.ClientStream, error) {
	tokened, err := r.withToken(ctx, method)
	if err != nil {
		return nil, err
	}
	return open(tokened, d, c, method, options...)
}

// isPassing tells whether the same call may succeed later.
func isPassing(err error) bool {
	code := status.Code(err)
	return code == codes.Unavailable || code == codes.ResourceExhausted
}

func waitOf(err error, attempt int) time.Duration {
	wait := firstWait << (attempt - 1)
	for _, detail := range status.Convert(err).Details() {
		if advised, ok := detail.(*errdetails.RetryInfo); ok {
			if delay := time.Duration(advised.RetryDelay.GetSeconds())*time.Second +
				time.Duration(advised.RetryDelay.GetNanos()); delay > wait {
				wait = delay
			}
		}
	}
	return wait
}

// reasonOf returns a refusal's reason, as in sabacc.common.v1.ErrorReason without the prefix; empty where
// an error is no refusal.
func reasonOf(err error) string {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok && info.Domain == "sabacc" {
			return info.Reason
		}
	}
	return ""
}

// twice sends a command again, as after a lost answer: under the same request_id with the same content it
// changes nothing, and gets the first answer.
func twice(send func() (proto.Message, error)) error {
	first, err := send()
	if err != nil {
		return err
	}
	second, err := send()
	if err != nil {
		return err
	}
	if !proto.Equal(first, second) {
		return fmt.Errorf("a repeated command got another %s", first.ProtoReflect().Descriptor().Name())
	}
	return nil
}
