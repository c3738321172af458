package mcpserver_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// What the official conformance suite expects of a server under test: tools,
// resources and prompts of given names that answer in given words. They show
// that the transports here carry everything the protocol has.

// Any bytes do for an image and a sound.
var fixtureBytes = base64.StdEncoding.EncodeToString([]byte("fixture"))

func addFixtures(s *server.MCPServer) {
	server.WithLogging()(s)
	server.WithElicitation()(s)
	s.EnableSampling()
	addContentTools(s)
	addNotifyingTools(s)
	addAskingTools(s)
	addFixtureResources(s)
	addFixturePrompts(s)
}

func fixtureTool(name string, opts ...mcp.ToolOption) mcp.Tool {
	return mcp.NewTool(name, append(opts, mcp.WithDescription("A fixture"))...)
}

func embedded(uri, mime, text string) mcp.Content {
	return mcp.NewEmbeddedResource(mcp.TextResourceContents{URI: uri, MIMEType: mime, Text: text})
}

func addContentTools(s *server.MCPServer) {
	image := mcp.NewImageContent(fixtureBytes, "image/png")
	for name, content := range map[string][]mcp.Content{
		"test_simple_text":       {mcp.NewTextContent("This is a simple text response for testing.")},
		"test_image_content":     {image},
		"test_audio_content":     {mcp.NewAudioContent(fixtureBytes, "audio/wav")},
		"test_embedded_resource": {embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")},
		"test_multiple_content_types": {
			mcp.NewTextContent("Multiple content types test:"), image,
			embedded("test://mixed-content-resource", "application/json", `{"test":"data","value":123}`),
		},
	} {
		s.AddTool(fixtureTool(name), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: content}, nil
		})
	}
	s.AddTool(fixtureTool("test_error_handling"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultError("This tool intentionally returns an error for testing"), nil
	})
}

func addNotifyingTools(s *server.MCPServer) {
	s.AddTool(fixtureTool("test_tool_with_logging"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for _, what := range []string{"started", "processing data", "completed"} {
			err := s.SendNotificationToClient(ctx, "notifications/message", map[string]any{"level": "info", "data": "Tool execution " + what})
			if err != nil {
				return nil, err
			}
		}
		return mcp.NewToolResultText("done"), nil
	})
	s.AddTool(fixtureTool("test_tool_with_progress"), func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if req.Params.Meta == nil {
			return mcp.NewToolResultText("done"), nil
		}
		for _, n := range []int{0, 50, 100} {
			err := s.SendNotificationToClient(ctx, "notifications/progress", map[string]any{
				"progressToken": req.Params.Meta.ProgressToken, "progress": n, "total": 100,
			})
			if err != nil {
				return nil, err
			}
		}
		return mcp.NewToolResultText("done"), nil
	})
}

func property(kind string, more map[string]any) map[string]any {
	p := map[string]any{"type": kind}
	for k, v := range more {
		p[k] = v
	}
	return p
}

func options(prefix string, n int) (plain []string, titled []any) {
	for i := 1; i <= n; i++ {
		plain = append(plain, fmt.Sprint(prefix, i))
		titled = append(titled, map[string]any{"const": fmt.Sprint(prefix, i), "title": fmt.Sprint("Option ", i)})
	}
	return plain, titled
}

func addAskingTools(s *server.MCPServer) {
	s.AddTool(fixtureTool("test_sampling", mcp.WithString("prompt", mcp.Required())), func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		//lint:ignore SA1019 the suite tests it, and clients of earlier versions have it
		answer, err := s.RequestSampling(ctx, mcp.CreateMessageRequest{CreateMessageParams: mcp.CreateMessageParams{
			Messages:  []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.NewTextContent(req.GetString("prompt", ""))}},
			MaxTokens: 100,
		}})
		if err != nil {
			return mcp.NewToolResultErrorFromErr("sampling", err), nil
		}
		return mcp.NewToolResultText(fmt.Sprintf("LLM response: %v", answer.Content)), nil
	})
	plain, titled := options("option", 2)
	for name, properties := range map[string]map[string]any{
		"test_elicitation": {"username": property("string", nil), "email": property("string", nil)},
		"test_elicitation_sep1034_defaults": {
			"name":     property("string", map[string]any{"default": "John Doe"}),
			"age":      property("integer", map[string]any{"default": 30}),
			"score":    property("number", map[string]any{"default": 95.5}),
			"status":   property("string", map[string]any{"enum": []string{"active", "inactive", "pending"}, "default": "active"}),
			"verified": property("boolean", map[string]any{"default": true}),
		},
		"test_elicitation_sep1330_enums": {
			"untitledSingle": property("string", map[string]any{"enum": plain}),
			"titledSingle":   property("string", map[string]any{"oneOf": titled}),
			"legacyEnum":     property("string", map[string]any{"enum": plain, "enumNames": plain}),
			"untitledMulti":  property("array", map[string]any{"items": property("string", map[string]any{"enum": plain})}),
			"titledMulti":    property("array", map[string]any{"items": map[string]any{"anyOf": titled}}),
		},
	} {
		s.AddTool(fixtureTool(name, mcp.WithString("message")), func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			answer, err := s.RequestElicitation(ctx, mcp.ElicitationRequest{Params: mcp.ElicitationParams{
				Message: req.GetString("message", "Please answer"), RequestedSchema: map[string]any{"type": "object", "properties": properties},
			}})
			if err != nil {
				return mcp.NewToolResultErrorFromErr("elicitation", err), nil
			}
			return mcp.NewToolResultText(fmt.Sprintf("User response: action=%s, content=%v", answer.Action, answer.Content)), nil
		})
	}
}

func addFixtureResources(s *server.MCPServer) {
	s.AddResource(mcp.NewResource("test://static-text", "static text", mcp.WithMIMEType("text/plain")), func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: "test://static-text", MIMEType: "text/plain", Text: "This is the content of the static text resource."}}, nil
	})
	s.AddResource(mcp.NewResource("test://static-binary", "static bytes", mcp.WithMIMEType("image/png")), func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		return []mcp.ResourceContents{mcp.BlobResourceContents{URI: "test://static-binary", MIMEType: "image/png", Blob: fixtureBytes}}, nil
	})
	s.AddResourceTemplate(mcp.NewResourceTemplate("test://template/{id}/data", "template"), func(_ context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		id := strings.TrimSuffix(strings.TrimPrefix(req.Params.URI, "test://template/"), "/data")
		text := fmt.Sprintf(`{"id":%q,"templateTest":true,"data":"Data for ID: %s"}`, id, id)
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: req.Params.URI, MIMEType: "application/json", Text: text}}, nil
	})
}

func addFixturePrompts(s *server.MCPServer) {
	add := func(name string, messages func(args map[string]string) []mcp.Content, arguments ...string) {
		opts := []mcp.PromptOption{mcp.WithPromptDescription("A fixture")}
		for _, a := range arguments {
			opts = append(opts, mcp.WithArgument(a, mcp.RequiredArgument()))
		}
		s.AddPrompt(mcp.NewPrompt(name, opts...), func(_ context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			var res mcp.GetPromptResult
			for _, c := range messages(req.Params.Arguments) {
				res.Messages = append(res.Messages, mcp.NewPromptMessage(mcp.RoleUser, c))
			}
			return &res, nil
		})
	}
	add("test_simple_prompt", func(map[string]string) []mcp.Content {
		return []mcp.Content{mcp.NewTextContent("This is a simple prompt for testing.")}
	})
	add("test_prompt_with_arguments", func(a map[string]string) []mcp.Content {
		return []mcp.Content{mcp.NewTextContent(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", a["arg1"], a["arg2"]))}
	}, "arg1", "arg2")
	add("test_prompt_with_embedded_resource", func(a map[string]string) []mcp.Content {
		return []mcp.Content{embedded(a["resourceUri"], "text/plain", "Embedded resource content for testing."), mcp.NewTextContent("Please process it.")}
	}, "resourceUri")
	add("test_prompt_with_image", func(map[string]string) []mcp.Content {
		return []mcp.Content{mcp.NewImageContent(fixtureBytes, "image/png"), mcp.NewTextContent("Please analyze it.")}
	})
}
